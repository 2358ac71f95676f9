import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Binary, type Db, type Document } from 'mongodb';
import { createMongoAlertStore } from '../../../activities/stores/mongo/signals/alert-store.js';
import { createMongoApiKeyStore } from '../../../activities/stores/mongo/signals/api-key-store.js';
import { INLINE_BYTES } from '../../../activities/stores/mongo/documents/blob-collections.js';
import { createMongoBlobStore } from '../../../activities/stores/mongo/documents/blob-store.js';
import { createMongoCallbackStore } from '../../../activities/stores/mongo/documents/callback-store.js';
import { createMongoClaimStore } from '../../../activities/stores/mongo/documents/claim-store.js';
import { createMongoDecisionCopyStore } from '../../../activities/stores/mongo/signals/decision-copy-store.js';
import { sampleConversation, sampleMessage } from '../../contracts/retrieval/conversation-samples.js';
import { CONVERSATION_LIMITS } from '../../../schemas/retrieval/conversations.js';
import { sampleFeedback, sampleResult } from '../../contracts/retrieval/evaluation-samples.js';
import { createMongoEvaluationRunStore } from '../../../activities/stores/mongo/retrieval/evaluation-run-store.js';
import { createMongoConversationStore } from '../../../activities/stores/mongo/retrieval/conversation-store.js';
import { createMongoFeedbackStore } from '../../../activities/stores/mongo/retrieval/feedback-store.js';
import { createMongoQuestionSetStore } from '../../../activities/stores/mongo/retrieval/question-set-store.js';
import { createMongoEmbedderSwapStore } from '../../../activities/stores/mongo/documents/embedder-swap-store.js';
import { createMongoFileStore } from '../../../activities/stores/mongo/documents/file-store.js';
import { createMongoLoginStore } from '../../../activities/stores/mongo/signals/login-store.js';
import { createMongoMetricsStore } from '../../../activities/stores/mongo/signals/metrics-store.js';
import { createMongoRecordCollections } from '../../../activities/stores/mongo/migrations/record-collections.js';
import { createMongoPartitionStore } from '../../../activities/stores/mongo/documents/partition-store.js';
import { createMongoQuotaStore } from '../../../activities/stores/mongo/documents/quota-store.js';
import { createMongoSavedRuleStore } from '../../../activities/stores/mongo/signals/saved-rule-store.js';
import { createMongoStatisticsStore } from '../../../activities/stores/mongo/signals/statistics-store.js';
import { createMongoTaskStore } from '../../../activities/stores/mongo/documents/task-store.js';
import { createMongoUserStore } from '../../../activities/stores/mongo/documents/user-store.js';
import { createMongoWatcherStore } from '../../../activities/stores/mongo/signals/watcher-store.js';
import { createMongoWorkerStore } from '../../../activities/stores/mongo/documents/worker-store.js';
import { createMongoWorkspaceStore } from '../../../activities/stores/mongo/documents/workspace-store.js';
import { sampleAlert, sampleSignal } from '../../contracts/signals/alert-store-samples.js';
import { sampleTask, sampleVersion } from '../../contracts/samples.js';

const BATCH = 500;
const HOUR_MS = 3_600_000;
const KEY = Buffer.alloc(32, 5);

/** How many of what a filled database holds; `large` is what grows with use. */
const SIZES = { large: 20_000, users: 2_000, partitions: 500, watchers: 200 } as const;
/** Of the tasks the newest ones are active: some wait for their turn, the others run. */
const ACTIVE = { waiting: 400, running: 100 } as const;
/** Ended and not cleaned up yet. */
const UNCLEANED = 200;

/** Half of the files are in one partition, half of the alerts of one watcher. */
function shareOf(index: number, count: number): number {
  return index % 2 === 0 ? 0 : index % count;
}

export function partitionName(index: number): string {
  return `part-${index}`;
}

export function watcherName(index: number): string {
  return `watcher-${index}`;
}

function userIdOf(index: number): number {
  return 2 + (index % SIZES.users);
}

function taskIdOf(index: number): string {
  return `task-${index}`;
}

function fileKeyOf(index: number): string {
  return `file-key-${index}`;
}

export function storesOf(db: Db) {
  return {
    alerts: createMongoAlertStore(db),
    apiKeys: createMongoApiKeyStore(db),
    blobs: createMongoBlobStore(db),
    callbacks: createMongoCallbackStore(db, KEY, []),
    claims: createMongoClaimStore(db),
    copies: createMongoDecisionCopyStore(db),
    embedderSwaps: createMongoEmbedderSwapStore(db),
    questionSets: createMongoQuestionSetStore(db),
    evaluationRuns: createMongoEvaluationRunStore(db),
    feedback: createMongoFeedbackStore(db),
    conversations: createMongoConversationStore(db),
    files: createMongoFileStore(db),
    logins: createMongoLoginStore(db, KEY, []),
    metrics: createMongoMetricsStore(db),
    partitions: createMongoPartitionStore(db),
    quotas: createMongoQuotaStore(db),
    records: createMongoRecordCollections(db),
    savedRules: createMongoSavedRuleStore(db),
    statistics: createMongoStatisticsStore(db),
    tasks: createMongoTaskStore(db),
    users: createMongoUserStore(db),
    watchers: createMongoWatcherStore(db, KEY, []),
    workers: createMongoWorkerStore(db),
    workspaces: createMongoWorkspaceStore(db),
  };
}

/**
 * Fills a database as after a year of use: 20,000 tasks, files, blobs, claims, callbacks and alerts. The first
 * document of each kind is made by its store and the others are copies of it with other keys, so that their shape is
 * the real one.
 */
export async function fillDatabase(db: Db): Promise<void> {
  const stores = storesOf(db);
  await fillAccounts(db, stores);
  await fillTasks(db, stores);
  await fillFiles(db, stores);
  await fillBlobs(db, stores);
  await fillSignals(db, stores);
  await fillEvaluation(db, stores);
  await fillConversations(db, stores);
}

type Stores = ReturnType<typeof storesOf>;

/** Copies the one document of a collection so many times; the first one stays as it is. */
async function multiply(
  db: Db,
  collection: string,
  count: number,
  change: (index: number) => Document,
  { keep = false } = {},
): Promise<void> {
  const documents = db.collection(collection);
  const template = await documents.findOne({});
  if (template === null) throw new Error(`${collection} has no document to copy`);
  if (!keep) await documents.deleteMany({});
  for (let first = 0; first < count; first += BATCH)
    await documents.insertMany(
      Array.from({ length: Math.min(BATCH, count - first) }, (_, offset) => ({
        ...template,
        ...change(first + offset),
      })),
      { ordered: false },
    );
}

async function fillAccounts(db: Db, stores: Stores): Promise<void> {
  const { users, partitions, embedderSwaps, workspaces, apiKeys } = stores;
  await users.create({
    user_id: 2,
    display_name: 'Ada',
    external_user_id: 'x',
    email: 'ada@example.org',
    is_admin: false,
    file_quota: 100,
    token_digest: 'digest',
  });
  await multiply(db, 'users', SIZES.users, (index) => ({
    _id: userIdOf(index),
    token_digest: `digest-${index}`,
    external_user_id: `ext-${index}`,
    email: `u${index}@example.org`,
    email_key: `u${index}@example.org`,
    ...(index % 40 === 0 && { pending_tasks: [`pending-${index}`] }),
  }));
  await partitions.create({ partition: 'first', embedder: 'builtin-hash', ownerId: 2 });
  await multiply(db, 'partitions', SIZES.partitions, (index) => ({
    _id: partitionName(index),
    partition_key: `key-${index}`,
    members: [{ user_id: userIdOf(index), role: 'owner', added_at: new Date() }],
  }));
  await embedderSwaps.insert({
    swap_id: 'swap',
    partition: partitionName(0),
    partition_key: 'key-0',
    source_embedder: 'builtin-hash',
    target_embedder: 'new',
    min_overlap: null,
    min_known_item: null,
    started_by: '2',
  });
  await multiply(db, 'embedder_swaps', SIZES.users, (index) => ({
    _id: `swap-${index}`,
    partition: partitionName(index % SIZES.partitions),
    partition_key: `key-${index % SIZES.partitions}`,
    status: 'completed',
    started_at: new Date(Date.now() - index * 60_000),
  }));
  const rest = { partition: partitionName(0), workspace_id: 'w', display_name: null, created_by: 2 };
  await workspaces.create({ workspace_key: 'workspace', ...rest });
  await multiply(db, 'workspaces', SIZES.users, (index) => ({
    _id: `workspace-${index}`,
    partition: partitionName(index % SIZES.partitions),
    workspace_id: `w-${index}`,
    name_key: `${partitionName(index % SIZES.partitions)}/w-${index}`,
  }));
  await apiKeys.create({ id: 'key', name: 'key', scopes: ['read'], digest: 'key', at: new Date() });
}

/** Sets, runs and feedback, so many of each partition. */
async function fillEvaluation(db: Db, { questionSets, evaluationRuns, feedback }: Stores): Promise<void> {
  const set = { partition_key: 'key-0', name: 'main', note: null, created_by: '2' };
  const question = { id: 'q', question: 'Why?', relevant: [], expected_answer: null, not_answerable: true };
  const { version_id } = await questionSets.add(set, [question], 1);
  await multiply(db, 'evaluation_questions', SIZES.large, (index) => ({
    _id: `question-${index}`,
    version_id: index < 100 ? version_id : `version-${index % 40}`,
    index,
  }));
  await evaluationRuns.insert({
    run_id: 'run',
    partition: partitionName(0),
    partition_key: 'key-0',
    set: 'main',
    version: 1,
    version_id,
    label: null,
    settings: { chat: false, top_k: 50, preset: null, overrides: {} },
    config: null,
    questions_total: SIZES.large,
    started_by: '2',
  });
  await evaluationRuns.record('run', [sampleResult(0)]);
  await multiply(db, 'evaluation_results', SIZES.large, (index) => {
    const run_id = index < 100 ? 'run' : `run-${index % 40}`;
    return { _id: `${run_id}/${index}`, run_id, index };
  });
  await feedback.put(sampleFeedback(), 1);
  await multiply(db, 'answer_feedback', SIZES.large, (index) => ({
    _id: `feedback-${index}`,
    feedback_id: `feedback-${index}`,
    partition_key: `key-${shareOf(index, SIZES.partitions)}`,
    user_id: userIdOf(index % SIZES.users),
  }));
}

/** Half of the conversations are those of one user. */
async function fillConversations(db: Db, { conversations }: Stores): Promise<void> {
  const given = sampleConversation({ user_id: userIdOf(0) });
  const { conversation_id, revision } = await conversations.create(given, 1);
  const change = { revision, messages: [sampleMessage()], most: CONVERSATION_LIMITS };
  await conversations.write(given.user_id, conversation_id, change);
  await multiply(db, 'conversations', SIZES.large, (index) => ({
    _id: `conversation-${index}`,
    user_id: userIdOf(shareOf(index, SIZES.users)),
    updated_at: new Date(Date.now() - index * 1_000),
    parts: [{ id: `message-${index}`, bytes: 10 }],
  }));
  await multiply(db, 'conversation_messages', SIZES.large, (index) => ({
    _id: `message-${index}`,
    conversation_id: `conversation-${index}`,
    user_id: userIdOf(shareOf(index, SIZES.users)),
  }));
}

async function fillTasks(db: Db, { tasks, callbacks }: Stores): Promise<void> {
  const now = Date.now();
  await tasks.insert(sampleTask());
  await multiply(db, 'tasks', SIZES.large, (index) => {
    const place = SIZES.large - index;
    const created = new Date(now - place * 60_000);
    const active = place <= ACTIVE.waiting + ACTIVE.running;
    return {
      _id: taskIdOf(index),
      user_id: userIdOf(index % 100),
      file_key: fileKeyOf(index),
      generation: index,
      partition: partitionName(shareOf(index, SIZES.partitions)),
      file_id: `file-${index}`,
      created_at: created,
      ...(active && place <= ACTIVE.waiting && { state: 'QUEUED' }),
      ...(active && place > ACTIVE.waiting && { state: 'SERIALIZING', handed_over_at: created }),
      ...(!active && {
        state: index % 50 === 0 ? 'FAILED' : 'COMPLETED',
        handed_over_at: created,
        finished_at: new Date(created.getTime() + 5_000),
        cleaned_at:
          place <= ACTIVE.waiting + ACTIVE.running + UNCLEANED ? null : new Date(created.getTime() + 9_000),
      }),
    };
  });
  await callbacks.insert({ taskId: taskIdOf(0), url: 'https://example.org/', token: null });
  await multiply(db, 'callbacks', SIZES.large, (index) => ({
    _id: taskIdOf(index),
    created_at: new Date(now - (SIZES.large - index) * 60_000),
    ...(index < SIZES.large - 50 && { state: 'delivered', attempts: 1 }),
  }));
}

async function fillFiles(db: Db, { files, claims }: Stores): Promise<void> {
  const first = {
    fileKey: fileKeyOf(0),
    partition: partitionName(0),
    partitionKey: 'key-0',
    fileId: 'file-0',
  };
  await files.admitFirst({ ...first, userId: 2, taskId: taskIdOf(0), generation: 1 });
  await files.publish(fileKeyOf(0), taskIdOf(0), sampleVersion({ generation: 1, task_id: taskIdOf(0) }));
  const template = await db.collection<{ _id: string; live: Document }>('files').findOne({});
  await multiply(db, 'files', SIZES.large, (index) => {
    const at = shareOf(index, SIZES.partitions);
    const pending = index >= SIZES.large - ACTIVE.waiting - ACTIVE.running;
    const gone = index % 1_000 === 1;
    return {
      _id: fileKeyOf(index),
      partition: partitionName(at),
      partition_key: `key-${at}`,
      file_id: `file-${index}`,
      name_key: `${partitionName(at)}/file-${index}`,
      created_by: userIdOf(index % 100),
      latest_generation: index,
      live: pending
        ? null
        : {
            ...template?.live,
            task_id: taskIdOf(index),
            generation: index,
            relationship_id: `relation-${index % 2_000}`,
            degraded_stages: index % 500 === 0 ? ['contextualize'] : [],
          },
      pending_task: pending ? taskIdOf(index) : null,
      revision: 1,
      workspaces: index % 20 === 0 ? [`workspace-${index % 100}`] : [],
      independent: index % 20 !== 0,
      chunk_updates: [],
      updated_at: new Date(Date.now() - index * 1_000),
      ...(gone && { tombstone_at: new Date(), live: null, pending_task: null, name_key: `gone/${index}` }),
    };
  });
  await db.collection('files').updateMany({ tombstone_at: { $exists: true } }, { $unset: { name_key: '' } });
  await claims.claim({ partition: 'p', digest: 'd', fileKey: 'k', fileId: 'f', taskId: 't' });
  await multiply(db, 'claims', SIZES.large, (index) => ({
    _id: `${partitionName(index % SIZES.partitions)}\ndigest-${index}`,
    digest: `digest-${index}`,
    partition: partitionName(index % SIZES.partitions),
    holders: [taskIdOf(index)],
    file_key: fileKeyOf(index),
    file_id: `file-${index}`,
  }));
}

async function fillBlobs(db: Db, { blobs }: Stores): Promise<void> {
  const blob = {
    blobId: 'first',
    kind: 'upload',
    fileKey: fileKeyOf(0),
    generation: 0,
    taskId: 't',
  } as const;
  await blobs.write(blob, Readable.from([Buffer.alloc(INLINE_BYTES, 'text ')]));
  const file = await db.collection('blobs.files').findOne({});
  await multiply(db, 'blobs.files', SIZES.large, (index) => ({
    _id: `blob-file-${index}`,
    filename: `blob-${index}`,
    uploadDate: new Date(Date.now() - index * 1_000),
    metadata: { ...(file?.['metadata'] as Document), file_key: fileKeyOf(index), generation: index },
  }));
  await multiply(db, 'blobs.chunks', SIZES.large, (index) => ({
    _id: `chunk-${index}`,
    files_id: `blob-file-${index}`,
    n: 0,
    data: new Binary(Buffer.from('text')),
  }));
}

async function fillSignals(
  db: Db,
  { alerts, watchers, metrics, logins, copies, statistics }: Stores,
): Promise<void> {
  const now = Date.now();
  for (let first = 0; first < SIZES.large; first += BATCH)
    await alerts.insert(
      Array.from({ length: BATCH }, (_, offset) => {
        const index = first + offset;
        const address = `203.0.${index % 113}.${index % 250}`;
        return sampleAlert({
          signal: sampleSignal({
            uuid: randomUUID(),
            scenario: `crowdsecurity/scenario-${index % 60}`,
            machine_id: `agent-${index % 150}`,
            source: { scope: 'Ip', value: address, ip: address, cn: ['FR', 'DE', 'US', 'NL'][index % 4] },
          }),
          watcher: watcherName(shareOf(index, SIZES.watchers)),
          receivedAt: new Date(now - (SIZES.large - index) * 30_000),
          ...(index % 10 === 0 && { state: 'filtered', reasons: ['a rule'] }),
        });
      }),
    );
  // A watcher was away for a day; all the rest has been forwarded.
  const day = new Date(now - 24 * HOUR_MS);
  await db
    .collection('alerts')
    .updateMany(
      { state: 'waiting', received_at: { $lt: day } },
      { $set: { state: 'forwarded', forwarded: true, forwarded_at: new Date(now) } },
    );
  await db.collection('alerts').updateMany({ _id: { $lt: 40 as never } }, { $set: { state: 'quarantined' } });
  await statistics.recompute(1_000);
  await watchers.saveToken(watcherName(0), 'token-0', new Date(now + HOUR_MS));
  await multiply(db, 'watchers', SIZES.watchers, (index) => ({
    _id: watcherName(index),
    history: [`token-digest-${index}`],
    ...(index % 4 === 1 && {
      stranger: {
        address: `192.0.2.${index % 100}`,
        since: new Date(now - index),
        until: new Date(now + HOUR_MS),
      },
    }),
  }));
  await metrics.hold(
    'w',
    [{ path: 'v3/usage-metrics', bytes: Buffer.from('x'), part: false }],
    new Date(now),
  );
  await multiply(db, 'held_metrics', SIZES.users, (index) => ({
    _id: `held-${index}`,
    watcher: watcherName(index % SIZES.watchers),
    received_at: new Date(now - index * 1_000),
  }));
  // Gathers the names of scenarios that alerts of an older release have: once in the life of a database.
  await alerts.list({ limit: 1, offset: 0, scenario: 'scenario' });
  await logins.reserve(new Date(now), { logins: 5, windowMs: 1_000 });
  await multiply(db, 'logins', SIZES.users, (index) => ({ _id: `machine-${index}` }));
  const copy = { bytes: Buffer.from('x'), at: new Date(now), behind: false };
  await copies.write(watcherName(0), 'v3', copy, 0);
}
