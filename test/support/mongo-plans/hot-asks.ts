import { Readable } from 'node:stream';
import { sampleConversation, sampleMessage } from '../../contracts/retrieval/conversation-samples.js';
import { CONVERSATION_LIMITS } from '../../../schemas/retrieval/conversations.js';
import { sampleFeedback, sampleResult } from '../../contracts/retrieval/evaluation-samples.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { sampleAlert } from '../../contracts/signals/alert-store-samples.js';
import { sampleTask, sampleVersion } from '../../contracts/samples.js';
import { partitionName, watcherName } from './fill-database.js';
import type { storesOf } from './fill-database.js';

type Stores = ReturnType<typeof storesOf>;
export type Ask = readonly [name: string, ask: () => Promise<unknown>];

const EVERYTHING: Scope = { kind: 'all', userId: 1 };
const DAY_MS = 24 * 3_600_000;
const WORKER = { worker_id: 'w', slots: 2, renewed: {} };
const FAILURE = { code: 'TASK_CANCELLED', message: 'cancelled', traceback: [] };

async function readToEnd(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _item of items) continue;
}

/** What is asked for each request, signal and task, and by sweeps every few seconds or minutes. */
export function hotAsks(stores: Stores): Ask[] {
  return [
    ...accountAsks(stores),
    ...fileAsks(stores),
    ...taskAsks(stores),
    ...signalAsks(stores),
    ...evaluationAsks(stores),
    ...conversationAsks(stores),
  ];
}

/** What a person asks now and then; it may cost what it reads. */
const BY_A_PERSON = 'a person asks it, in an administration';
/** The comparison of stores has to see every record. */
const READS_ALL = 'reads all, to compare the stores: hourly, in batches';

/** The methods that are not asked, each with the reason. Endpoints, presets and prompts are some dozens of records. */
export const LEFT_OUT: Record<string, string> = {
  ...Object.fromEntries(
    [
      'apiKeys.create',
      'apiKeys.list',
      'apiKeys.rotate',
      'apiKeys.remove',
      'users.list',
      'users.create',
      'users.update',
      'users.setToken',
      'users.search',
      'users.markDeleted',
      'partitions.create',
      'partitions.update',
      'partitions.addMember',
      'partitions.setRole',
      'partitions.beginSwap',
      'partitions.endSwap',
      'files.switchEmbedder',
      'questionSets.add',
      'questionSets.list',
      'questionSets.versions',
      'questionSets.get',
      'questionSets.remove',
      'evaluationRuns.insert',
      'evaluationRuns.list',
      'evaluationRuns.finish',
      'evaluationRuns.remove',
      'feedback.markUsed',
      'feedback.remove',
      'embedderSwaps.insert',
      'embedderSwaps.latest',
      'embedderSwaps.list',
      'partitions.removeMember',
      'partitions.markDeleted',
      'partitions.renameReference',
      'workspaces.create',
      'workspaces.markDeleted',
      'watchers.list',
      'watchers.setPaused',
      'files.countByEmbedder',
      'files.renameEmbedder',
      'files.markPartitionDeleted',
      'tasks.countByState',
      'alerts.keptBack',
      'metrics.queues',
      'logins.unblock',
      'logins.overview',
      'savedRules.get',
      'savedRules.list',
      'savedRules.save',
    ].map((name) => [name, BY_A_PERSON]),
  ),
  ...Object.fromEntries(
    ['blobs.scan', 'claims.scan', 'files.scan', 'quotas.scan', 'tasks.scan'].map((name) => [name, READS_ALL]),
  ),
  'users.ensureAdmin': 'once at each start, by _id and by the digest of the token',
  'users.remove': 'the end of a deletion',
  'files.forgetUploader': 'the end of a deletion',
  'partitions.removeUser': 'the end of a deletion',
  'questionSets.removeAll': 'the end of a deletion',
  'evaluationRuns.removeAll': 'the end of a deletion',
  'feedback.removeAll': 'the end of a deletion',
  'feedback.removeUser': 'the end of a deletion',
  'conversations.removeUser': 'the end of a deletion',
  'partitions.removeDeleted': 'the end of a deletion',
  'workspaces.remove': 'the end of a deletion',
  'workspaces.removeMany': 'the end of a deletion',
  'workspaces.forgetCreator': 'the end of a deletion',
  ...Object.fromEntries(
    ['embedderSwaps.get', 'embedderSwaps.report', 'embedderSwaps.finish'].map((name) => [
      name,
      'every few seconds while an embedder is swapped, by _id',
    ]),
  ),
  'workers.withdraw': 'the end of a worker, by _id',
  'workers.requestRestart': BY_A_PERSON,
  'savedRules.newest': 'the last of at most a hundred, by _id',
  'records.estimate': 'the length that the server keeps of the collection',
  'copies.drop': 'a set of decisions that cannot be kept, by _id',
};

/** For each question of a run, and of whoever may chat. */
function evaluationAsks({ questionSets, evaluationRuns, feedback }: Stores): Ask[] {
  return [
    ['questionSets.questions', () => questionSets.questions('version-7', 100, 50)],
    ['evaluationRuns.get', () => evaluationRuns.get('run')],
    ['evaluationRuns.record', () => evaluationRuns.record('run', [sampleResult(3)])],
    ['evaluationRuns.results', () => evaluationRuns.results('run', 50, 50)],
    ['feedback.put', () => feedback.put(sampleFeedback({ partition_key: 'key-3', user_id: 9 }), 1_000)],
    ['feedback.list', () => feedback.list('key-3', { limit: 20, offset: 0 })],
    ['feedback.getMany', () => feedback.getMany('key-3', ['feedback-3', 'feedback-7'])],
  ];
}

/** For each question of a chat in the console. */
function conversationAsks({ conversations }: Stores): Ask[] {
  const [user, id] = [7, 'conversation-5'] as const;
  const change = { revision: 2, messages: [sampleMessage()], most: CONVERSATION_LIMITS };
  return [
    ['conversations.create', () => conversations.create(sampleConversation({ user_id: 9 }), 500)],
    ['conversations.list', () => conversations.list(user, { limit: 50, offset: 0 })],
    ['conversations.get', () => conversations.get(user, id)],
    ['conversations.update', () => conversations.update(user, id, { title: 'other' })],
    ['conversations.write', () => conversations.write(user, id, { ...change, revision: 3, keep: 0 })],
    ['conversations.remove', () => conversations.remove(user, id)],
  ];
}

function accountAsks(stores: Stores): Ask[] {
  const { users, quotas, partitions, embedderSwaps, workspaces, apiKeys, workers } = stores;
  const ada: Scope = { kind: 'partitions', userId: 9, roles: { [partitionName(7)]: 'owner' } };
  return [
    ['users.findByTokenDigest', () => users.findByTokenDigest('digest-77')],
    ['users.get', () => users.get(9)],
    ['users.getMany', () => users.getMany([7, 8, 9])],
    ['users.listDeleted', () => users.listDeleted(50)],
    [
      'users.findByIdentity',
      () => users.findByIdentity({ externalUserId: 'ext-9', email: 'u9@example.org' }),
    ],
    ['quotas.pending', () => quotas.pending(9)],
    ['quotas.reserve', () => quotas.reserve({ userId: 9, taskId: 'new', room: 5, turn: 0 })],
    ['quotas.inherit', () => quotas.inherit('pending-40', 'heir')],
    ['quotas.release', () => quotas.release(['new', 'pending-80'])],
    ['partitions.get', () => partitions.get(partitionName(9))],
    ['partitions.roleOf', () => partitions.roleOf(9, partitionName(7))],
    ['partitions.memberships', () => partitions.memberships(9)],
    ['partitions.members', () => partitions.members(partitionName(7))],
    ['partitions.list', () => partitions.list(ada)],
    ['embedderSwaps.latestOfEach', () => embedderSwaps.latestOfEach(['key-0', 'key-7'])],
    ['partitions.listDeleted', () => partitions.listDeleted()],
    ['workspaces.get', () => workspaces.get(partitionName(7), 'w-7')],
    ['workspaces.find', () => workspaces.find([partitionName(7), partitionName(8)], 'w-7')],
    ['workspaces.getMany', () => workspaces.getMany(['workspace-7', 'workspace-8'])],
    ['workspaces.list', () => workspaces.list(EVERYTHING, partitionName(7))],
    ['workspaces.listDeleted', () => workspaces.listDeleted(new Date(), 50)],
    ['apiKeys.find', () => apiKeys.find('no such digest', new Date())],
    ['apiKeys.touch', () => apiKeys.touch('key', new Date())],
    ['workers.report', () => workers.report({ ...WORKER, started_at: new Date(), seen_at: new Date() })],
    ['workers.list', () => workers.list(new Date(Date.now() - 10_000))],
    ['workers.restarts', () => workers.restarts()],
  ];
}

function fileAsks({ files, claims, blobs, records }: Stores): Ask[] {
  const name = { partition: partitionName(7), fileId: 'new' };
  const admission = { ...name, fileKey: 'new-key', partitionKey: 'key-7', userId: 9 };
  const claim = { partition: partitionName(7), digest: 'new', fileKey: 'new-key', fileId: 'new' };
  const blob = {
    blobId: 'new',
    kind: 'upload',
    fileKey: 'new-key',
    generation: 30_000,
    taskId: 'new',
  } as const;
  const large = partitionName(0);
  return [
    ['files.get', () => files.get(large, 'file-100')],
    ['files.partitionsOf', () => files.partitionsOf(['file-key-7', 'file-key-8'])],
    ['files.getMany', () => files.getMany(['file-key-7', 'file-key-8'])],
    ['files.admitFirst', () => files.admitFirst({ ...admission, taskId: 'new', generation: 30_000 })],
    [
      'files.publish',
      () => files.publish('new-key', 'new', sampleVersion({ task_id: 'new', generation: 30_000 })),
    ],
    [
      'files.admitReplacement',
      () => files.admitReplacement({ fileKey: 'new-key', taskId: 't2', generation: 30_001 }),
    ],
    ['files.releasePending', () => files.releasePending('new-key', 't2')],
    ['files.announce', () => files.announce('new-key', 't3')],
    ['files.confirmChunkUpdates', () => files.confirmChunkUpdates('new-key', 1, ['t3'])],
    [
      'files.change',
      async () => {
        const file = (await files.getMany(['file-key-7'])).get('file-key-7')!;
        await files.change({ file, token: 'token', live: file.live, metadataPatch: null });
      },
    ],
    [
      'records.change',
      async () => {
        const fields = ['partition', 'partition_key'];
        const page = await records.page('files', { after: 'file-key-7', size: 5, fields });
        await records.change('files', fields, [{ record: page[0]!, set: { partition_key: 'key-7' } }]);
      },
    ],
    ['records.page', () => records.page('files', { after: 'file-key-7', size: 500, fields: ['partition'] })],
    [
      'files.keepAttached',
      () =>
        files.keepAttached({
          fileId: 'file-20',
          attachedTo: { fileKey: 'file-key-20', generation: 7 },
        }),
    ],
    ['files.listAttached', () => files.listAttached('file-key-20')],
    ['files.dropAttached', () => files.dropAttached('file-key-20', { keep: [7], upTo: 9 })],
    ['files.detachWorkspace', () => files.detachWorkspace('file-key-20', 'workspace-20')],
    ['files.listUnconfirmed', () => files.listUnconfirmed(new Date(), 50)],
    [
      'files.attachWorkspace',
      () => files.attachWorkspace({ file_key: 'new-key', partition: partitionName(7) }, 'x'),
    ],
    ['files.releaseWorkspace', () => files.releaseWorkspace('new-key', 'x', { keepFile: true })],
    ['files.listByWorkspace', () => files.listByWorkspace('workspace-20')],
    ['files.listPlaced', () => files.listPlaced(large, ['file-100', 'file-200'])],
    ['files.listWorkspaceKeys', () => files.listWorkspaceKeys('workspace-20')],
    ['files.listRelated', () => files.listRelated(EVERYTHING, large, 'relation-40', { limit: 20 })],
    [
      'files.listRelated, behind one',
      () => files.listRelated(EVERYTHING, large, 'relation-40', { limit: 20, after: 'm' }),
    ],
    ['files.liveTasks', () => files.liveTasks(['task-7', 'task-8'])],
    ['files.listLive of a small partition', () => files.listLive(EVERYTHING, partitionName(7))],
    ['files.pageLive', () => files.pageLive(large, { after: 'file-100', limit: 100 })],
    ['files.listLive of a large one', () => files.listLive(EVERYTHING, large, { limit: 100 })],
    ['files.listLive from an offset', () => files.listLive(EVERYTHING, large, { limit: 100, offset: 50 })],
    ['files.scanNames', () => readToEnd(files.scanNames(EVERYTHING, [large, partitionName(7)]))],
    [
      'files.listLive of a stage',
      () => files.listLive(EVERYTHING, large, { degradedStage: 'contextualize' }),
    ],
    ['files.listLive behind one', () => files.listLive(EVERYTHING, large, { limit: 100, after: 'file-100' })],
    ['files.totalLive', () => files.totalLive([large, partitionName(7)])],
    ['files.countLive', () => files.countLive([large, partitionName(7)])],
    ['files.listIds', () => files.listIds(EVERYTHING, large, 100)],
    ['files.countDegraded', () => files.countDegraded(large)],
    ['files.countPending', () => files.countPending(large)],
    ['files.countEmbedders', () => files.countEmbedders(large)],
    ['files.countByUploader', () => files.countByUploader([7, 8])],
    ['files.listPending', () => files.listPending('key-0')],
    ['files.listTombstones', () => files.listTombstones(50)],
    ['files.scanPartitionTombstones', () => readToEnd(files.scanPartitionTombstones('key-0'))],
    ['files.listPartitionTombstones', () => files.listPartitionTombstones('key-0', 50)],
    ['files.markDeleted', () => files.markDeleted(partitionName(7), 'new')],
    ['files.removeTombstone', () => files.removeTombstone('new-key')],
    ['claims.claim', () => claims.claim({ ...claim, taskId: 'new' })],
    ['claims.release', () => claims.release(['new', 'task-9'])],
    ['claims.releaseFiles', () => claims.releaseFiles(['new-key', 'file-key-11'])],
    ['claims.releaseElsewhere', () => claims.releaseElsewhere('file-key-12', 'p')],
    ['claims.listByFile', () => claims.listByFile('new-key')],
    ['blobs.write', () => blobs.write(blob, Readable.from([Buffer.from('a text')]))],
    ['blobs.info', () => blobs.info('new')],
    ['blobs.read', async () => readToEnd(await blobs.read('new'))],
    ['blobs.assign', () => blobs.assign('new', { fileKey: 'new-key', generation: 30_001 })],
    ['blobs.listByFile', () => blobs.listByFile('new-key')],
    ['blobs.remove', () => blobs.remove('new')],
    ['blobs.removeIncomplete', () => blobs.removeIncomplete(new Date())],
  ];
}

function taskAsks({ tasks, callbacks }: Stores): Ask[] {
  const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);
  const task = { task_id: 'new', user_id: 9, file_key: 'new-key', generation: 30_000 };
  return [
    ['tasks.insert', () => tasks.insert(sampleTask(task))],
    ['tasks.get', () => tasks.get('new')],
    ['tasks.getMany', () => tasks.getMany(['new', 'none'])],
    ['tasks.markHandedOver', () => tasks.markHandedOver('new')],
    ['tasks.begin', () => tasks.begin('new')],
    ['tasks.advance', () => tasks.advance('new', { stage: 'embed', progress: 0.5 })],
    ['tasks.report', () => tasks.report('new', { stage: 'embed', progress: 0.5 })],
    ['tasks.noteEnrichment', () => tasks.noteEnrichment('new', { contextParts: 1 })],
    ['tasks.complete', () => tasks.complete('new', { cleaned: false })],
    ['tasks.finish', () => tasks.finish('new', 'COMPLETED')],
    ['tasks.cancelMany', () => tasks.cancelMany(['new'], FAILURE)],
    ['tasks.markCleaned', () => tasks.markCleaned('new-key', 30_000)],
    ['tasks.listByFile', () => tasks.listByFile('new-key')],
    ['tasks.listNotHandedOver', () => tasks.listNotHandedOver(new Date(), 50)],
    ['tasks.listActiveSince', () => tasks.listActiveSince(new Date(), 50, new Date(0))],
    ['tasks.listUncleaned', () => tasks.listUncleaned(new Date(), 50)],
    ['tasks.list of a user', () => tasks.list({ userId: 7, states: ['QUEUED', 'SERIALIZING'], limit: 50 })],
    ['tasks.list of a user, ended', () => tasks.list({ userId: 7, states: ['COMPLETED'], limit: 50 })],
    ['tasks.list of all', () => tasks.list({ userId: null, states: ['QUEUED', 'SERIALIZING'], limit: 50 })],
    ['tasks.list of all, ended', () => tasks.list({ userId: null, states: ['COMPLETED'], limit: 50 })],
    [
      'tasks.list of a partition, ended',
      () => tasks.list({ userId: null, states: ['FAILED'], partition: partitionName(7), limit: 50 }),
    ],
    [
      'tasks.list of a user, in a partition, ended',
      () => tasks.list({ userId: 7, states: ['FAILED'], partition: partitionName(7), limit: 50 }),
    ],
    ['tasks.getHeads', () => tasks.getHeads(['new', 'none'])],
    ['tasks.readMetadata', () => tasks.readMetadata(['new', 'none'])],
    ['tasks.countActive', () => tasks.countActive(7, 100)],
    ['tasks.countActive of all', () => tasks.countActive(null, 100)],
    ['tasks.countRunning', () => tasks.countRunning(7, 100)],
    ['tasks.countTurns', () => tasks.countTurns()],
    ['tasks.listWaiting', () => tasks.listWaiting(7, 50)],
    ['tasks.countEnded', () => tasks.countEnded(ago(300), 100)],
    ['tasks.removeEnded', () => tasks.removeEnded(ago(300))],
    ['tasks.remove', () => tasks.remove('new')],
    ['callbacks.insert', () => callbacks.insert({ taskId: 'new', url: 'https://example.org/', token: null })],
    ['callbacks.get', () => callbacks.get('new')],
    ['callbacks.noteAttempt', () => callbacks.noteAttempt('new', { status: 500, error: null })],
    ['callbacks.listUntried', () => callbacks.listUntried(new Date(), 50)],
    ['callbacks.listStalled', () => callbacks.listStalled(new Date(), 50)],
    ['callbacks.end', () => callbacks.end('new', 'delivered')],
    ['callbacks.remove', () => callbacks.remove('new')],
    ['callbacks.countEnded', () => callbacks.countEnded(ago(300), 100)],
    ['callbacks.removeEnded', () => callbacks.removeEnded(ago(300))],
  ];
}

function signalAsks({ alerts, watchers, metrics, logins, copies, statistics }: Stores): Ask[] {
  const now = new Date();
  const page = { limit: 50, offset: 0 };
  const day = new Date(now.getTime() - DAY_MS);
  const watcher = watcherName(0);
  return [
    ['alerts.insert', () => alerts.insert([sampleAlert({ watcher, receivedAt: now })])],
    ['alerts.get', () => alerts.get(77)],
    ['alerts.list', () => alerts.list(page)],
    ['alerts.list, far down', () => alerts.list({ ...page, offset: 5_000 })],
    ['alerts.list since', () => alerts.list({ ...page, since: day })],
    ['alerts.list newer', () => alerts.list({ ...page, newerThan: day })],
    ['alerts.list of filtered', () => alerts.list({ ...page, filtered: true })],
    ['alerts.list of forwarded', () => alerts.list({ ...page, forwardedToCapi: true })],
    ['alerts.list of a country', () => alerts.list({ ...page, country: 'FR' })],
    ['alerts.list of a machine', () => alerts.list({ ...page, machineId: 'agent-7' })],
    ['alerts.list of an address', () => alerts.list({ ...page, ip: '203.0.7.7' })],
    ['alerts.list of a scenario', () => alerts.list({ ...page, scenario: 'scenario-7' })],
    ['alerts.nextWaiting', () => alerts.nextWaiting(watcher, 50)],
    ['alerts.readWaiting', () => alerts.readWaiting([19_990, 19_992])],
    ['alerts.markForwarded', () => alerts.markForwarded([19_990, 19_992], now)],
    ['alerts.quarantine', () => alerts.quarantine(19_994, 'refused')],
    ['alerts.quarantined', () => alerts.quarantined(page)],
    ['alerts.quarantined of a watcher', () => alerts.quarantined({ ...page, watcher })],
    ['alerts.release', () => alerts.release(19_994)],
    ['alerts.releaseDeferred', () => alerts.releaseDeferred(watcher, 50)],
    ['alerts.discard', () => alerts.discard(2)],
    [
      'alerts.discardWaiting',
      () => alerts.discardWaiting(watcher, { reason: 'given up', receivedUntil: now, limit: 50 }),
    ],
    [
      'alerts.discardWaiting, deferred',
      () =>
        alerts.discardWaiting(watcher, {
          reason: 'given up',
          receivedUntil: now,
          limit: 50,
          deferred: true,
        }),
    ],
    ['alerts.summaries', () => alerts.summaries()],
    ['alerts.watchersWaiting', () => alerts.watchersWaiting(now, 50)],
    ['alerts.readBack', () => alerts.readBack({ belowId: null, limit: 100 })],
    [
      'alerts.discardQuarantined',
      () => alerts.discardQuarantined({ reason: 'given up', receivedUntil: now, limit: 50 }),
    ],
    [
      'alerts.discardQuarantined, of one',
      () => alerts.discardQuarantined({ watcher, reason: 'given up', receivedUntil: now, limit: 50 }),
    ],
    ['alerts.countOld', () => alerts.countOld('removable', new Date(now.getTime() - 6.9 * DAY_MS), 100)],
    ['alerts.removeOld', () => alerts.removeOld(new Date(now.getTime() - 6.9 * DAY_MS), 100)],
    ['statistics.read', () => statistics.read(day)],
    ['statistics.read of all', () => statistics.read(null)],
    ['statistics.ruleMatches', () => statistics.ruleMatches()],
    ['statistics.recompute', () => statistics.recompute(10)],
    ['statistics.forget', () => statistics.forget(new Date(now.getTime() - 6 * DAY_MS))],
    ['watchers.get', () => watchers.get(watcher)],
    ['watchers.token', () => watchers.token(watcher)],
    ['watchers.saveToken', () => watchers.saveToken(watcher, 'token-new', new Date(now.getTime() + DAY_MS))],
    ['watchers.takeLoginWanted', () => watchers.takeLoginWanted(watcher, now)],
    ['watchers.watcherOfToken', () => watchers.watcherOfToken('token-digest-7')],
    ['watchers.acceptToken', () => watchers.acceptToken(watcher, 'digest')],
    ['watchers.refuseToken', () => watchers.refuseToken(watcher, 'another digest')],
    ['watchers.wantLogin', () => watchers.wantLogin(watcher)],
    ['watchers.standing', () => watchers.standing(watcher, 'digest')],
    ['watchers.heldByOutage', () => watchers.heldByOutage(now, 50)],
    [
      'watchers.admit',
      () => watchers.admit('new', { address: '192.0.2.7', at: now, places: 50, lifetimeMs: DAY_MS }),
    ],
    [
      'watchers.admit, without a place',
      async () => {
        await watchers.wantLogin('without a place');
        const place = { address: '192.0.2.8', at: now, places: 50, lifetimeMs: DAY_MS };
        return watchers.admit('without a place', place);
      },
    ],
    ['watchers.prolongUnknownWatcher', () => watchers.prolongUnknownWatcher('new', now)],
    ['watchers.expiredUnknownWatchers', () => watchers.expiredUnknownWatchers(now, 50)],
    ['watchers.removeUnknownWatcher', () => watchers.removeUnknownWatcher('new', now)],
    ['watchers.recordSuccess', () => watchers.recordSuccess(watcher, now)],
    [
      'watchers.recordError',
      () => watchers.recordError(watcher, { message: 'm', at: now, cause: 'refused', status: 400 }, null),
    ],
    [
      'metrics.hold',
      () => metrics.hold(watcher, [{ path: 'v3/metrics/', bytes: Buffer.from('y'), part: false }], now),
    ],
    ['metrics.next', () => metrics.next(watcher)],
    ['metrics.read', () => metrics.read('held-7')],
    ['metrics.refuse', () => metrics.refuse('held-7', 'a reason')],
    ['metrics.remove', () => metrics.remove('held-8')],
    ['metrics.dropHeld', () => metrics.dropHeld(new Date(now.getTime() - 30 * DAY_MS))],
    ['metrics.watchersHolding', () => metrics.watchersHolding(now, 50)],
    ['logins.recall', () => logins.recall('machine', 'password')],
    [
      'logins.remember',
      () =>
        logins.remember(
          'machine',
          'password',
          { watcher, token: 't', expiresAt: day, scenarios: 'digest' },
          now,
        ),
    ],
    [
      'logins.block',
      () => logins.block('machine', 'password', { status: 403, message: 'm', at: now, until: day }),
    ],
    ['logins.reserve', () => logins.reserve(now, { logins: 5, windowMs: 1_000 })],
    [
      'logins.reserveShare',
      () => logins.reserveShare('address/203.0.113.7', now, { logins: 5, windowMs: 1_000 }),
    ],
    ['logins.release', () => logins.release(now)],
    ['logins.takeExemption', () => logins.takeExemption('machine', now)],
    ['logins.returnExemption', () => logins.returnExemption('machine', day)],
    ['logins.releaseShare', () => logins.releaseShare('address/203.0.113.7', now)],
    ['logins.wasTaken', () => logins.wasTaken('machine', 'password')],
    [
      'logins.noteRefused',
      () => logins.noteRefused({ machineId: 'm', status: 429, message: 'budget', at: now }, true),
    ],
    ['logins.blockOf', () => logins.blockOf('machine', 'password', now)],
    ['copies.read', () => copies.read(watcher, 'v3')],
    [
      'copies.write',
      () => copies.write(watcher, 'v3', { bytes: Buffer.from('z'), at: now, behind: false }, 1),
    ],
    ['copies.setBehind', () => copies.setBehind(watcher, 'v3', true)],
  ];
}
