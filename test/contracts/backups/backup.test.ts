import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ARCHIVED, LEFT_OUT } from '../../../activities/backups/backup-contents.js';
import { checkRestore } from '../../../activities/backups/check-restore.js';
import { createEncryption } from '../../../activities/stores/mongo/encryption.js';
import { RESTORED_WHILE_WAITING } from '../../../schemas/signals/signals.js';
import { sha256Hex } from '../../../schemas/sha256.js';
import { openBackupStage } from '../../support/backup-stage.js';
import type { BackupStage } from '../../support/backup-stage.js';
import { createFakeBackupStorage } from '../../support/fakes/backups/fake-backup-storage.js';
import { sampleTask, times } from '../samples.js';
import { sampleResult, sampleRun } from '../retrieval/evaluation-samples.js';
import { sampleAlert } from '../signals/alert-store-samples.js';

const KEY = randomBytes(32).toString('base64');
const ID = '20260131T235959Z-0a1b2c3d';

let storage: ReturnType<typeof createFakeBackupStorage>;
let stages: BackupStage[];
/** What is backed up, and what it is restored into. */
let from: BackupStage;
let to: BackupStage;
beforeEach(async () => {
  storage = createFakeBackupStorage();
  from = await openBackupStage({ storage, secretsKey: KEY });
  to = await openBackupStage({ storage, secretsKey: KEY });
  stages = [from, to];
}, 60_000);
afterEach(async () => {
  for (const stage of stages) await stage.close();
}, 60_000);

function partitionOf(stage: BackupStage, partition = 'library') {
  return stage.adapters.partitions.create({ partition, embedder: 'builtin-hash', ownerId: 1 });
}

async function alertsOf(stage: BackupStage) {
  const listed = await stage.alerts.list({ limit: 100, offset: 0 });
  return listed.map(({ message, forwardedToCapi, filtered }) => [message, forwardedToCapi, filtered]);
}

async function storedStates(stage: BackupStage) {
  const stored = await stage.adapters.backups.archive.page('alerts', { after: null, size: 100 });
  return stored.map((alert) => [alert['state'], alert['state_reason']]);
}

describe('a backup that is restored into an empty stack', () => {
  test('brings back records, bytes, chunks and the same answers with the same scores', async () => {
    const library = await partitionOf(from);
    const user = await from.adapters.users.create({
      user_id: await from.adapters.counters.nextUserId(),
      display_name: 'Ada',
      external_user_id: 'ada',
      email: 'ada@example.org',
      is_admin: false,
      file_quota: 7,
      token_digest: sha256Hex('the token of Ada'),
    });
    await Promise.all(
      times(25, (file) =>
        from.addFile(
          library,
          `file-${file}`,
          times(3, (part) => `The mill number ${file} grinds grain of part ${part} at the sluice.`),
          { userId: user.user_id },
        ),
      ),
    );
    // Of more than a part, and with bytes that no text has.
    const large = randomBytes(20 * 1024 * 1024);
    await from.addFile(library, 'large', ['The quay is long.'], { bytes: large });
    await from.addFile(library, 'empty', [], { bytes: Buffer.alloc(0) });
    const asked = ['the mill at the sluice', 'grain of part 2', 'quay'];
    const before = await Promise.all(asked.map((text) => from.search('library', text)));

    const { counts } = await from.backup(ID);
    expect(counts).toMatchObject({ files: 27, chunks: 76, uploads: 27, users: 2, incomplete_files: 0 });
    await to.restore(ID);

    expect(await Promise.all(asked.map((text) => to.search('library', text)))).toEqual(before);
    expect(before[0]!.dense.length).toBeGreaterThan(10);
    const restored = await to.contentOf('library', 'large');
    expect(sha256Hex(restored!.bytes)).toBe(sha256Hex(large));
    for (const fileId of ['file-0', 'file-24', 'empty']) {
      const [one, other] = [await from.contentOf('library', fileId), await to.contentOf('library', fileId)];
      expect(other).toEqual(one);
    }
    const ada = await to.adapters.users.findByTokenDigest(sha256Hex('the token of Ada'));
    expect(ada).toMatchObject({ user_id: user.user_id, display_name: 'Ada', file_quota: 7 });
    // Nothing that is made from now on has a number of something restored.
    expect(await to.adapters.counters.nextGeneration()).toBeGreaterThan(27);
    expect(await to.adapters.counters.nextUserId()).toBeGreaterThan(user.user_id);
    // The same bytes are refused as before.
    const digest = restored!.file.live!.content_sha256;
    const claim = { partition: 'library', digest, fileKey: 'k', fileId: 'other', taskId: 't' };
    expect(await to.adapters.claims.claim(claim)).toEqual({ existingFileId: 'large' });
    // The administrator of this stack is let in with the token of this stack.
    expect(await to.adapters.users.findByTokenDigest(sha256Hex('the token of this stack'))).not.toBeNull();
  }, 120_000);

  test('chunks of a file that are too many for the memory come back all the same', async () => {
    const library = await partitionOf(from);
    const texts = times(140, (part) => `Page ${part} of the log. ${'The tide is low. '.repeat(2_000)}`);
    await from.addFile(library, 'log', texts);
    await from.addFile(library, 'note', ['The quay is long.']);
    await from.backup(ID);
    const { counts } = await to.restore(ID);
    expect(counts).toMatchObject({ files: 2, chunks: 141 });
    for (const fileId of ['log', 'note'])
      expect(await to.contentOf('library', fileId)).toEqual(await from.contentOf('library', fileId));
    expect(await to.scratchFiles()).toEqual([]);
  }, 180_000);

  test('without vectors its chunks are embedded again', async () => {
    const library = await partitionOf(from);
    await Promise.all(
      times(3, (file) =>
        from.addFile(library, `file-${file}`, [`The keeper lights lamp ${file}.`, `Tide ${file} comes in.`]),
      ),
    );
    await from.backup(ID, { vectors: false });
    const { counts } = await to.restore(ID);
    expect(counts).toMatchObject({ chunks: 6, embedded: 6 });
    expect(await to.contentOf('library', 'file-1')).toMatchObject({ vectors: 2 });
    expect(await to.search('library', 'lamp 2')).toEqual(await from.search('library', 'lamp 2'));
  }, 60_000);

  test.each([true, false])(
    'chunks are found by their context (vectors: %s)',
    async (vectors) => {
      const library = await partitionOf(from);
      const context = 'Said of the harbour in winter.';
      const { fileKey, generation } = await from.addFile(library, 'told', ['The lamp is lit.'], { context });
      await from.addFile(library, 'untold', ['The tide comes in.']);
      await from.backup(ID, { vectors });
      await to.restore(ID);
      const held = [];
      for await (const { context: kept } of to.adapters.chunks.scanChunks([generation])) held.push(kept);
      expect(held).toEqual([context]);
      expect(await to.adapters.files.get('library', 'told')).toMatchObject({ file_key: fileKey });
      expect(await to.search('library', 'harbour in winter')).toEqual(
        await from.search('library', 'harbour in winter'),
      );
    },
    60_000,
  );

  test('runs of evaluations are there, and one that was at work has ended', async () => {
    const { evaluationRuns: runs } = from.adapters;
    const library = await partitionOf(from);
    const given = sampleRun({ partition_key: library.partition_key });
    await runs.insert(given);
    await runs.record(given.run_id, [sampleResult(0)]);
    await from.backup(ID);
    const { counts } = await to.restore(ID);
    expect(counts).toMatchObject({ evaluation_runs: 1, evaluation_results: 1 });
    const { evaluationRuns: restored } = to.adapters;
    expect(await restored.get(given.run_id)).toMatchObject({ status: 'cancelled', questions_done: 1 });
    expect(await restored.results(given.run_id, 0, 9)).toHaveLength(1);
  }, 60_000);

  test('what was taken and not indexed yet is indexed after it', async () => {
    const library = await partitionOf(from);
    const fileKey = randomUUID();
    const bytes = Buffer.from('The eel sleeps.');
    const task = sampleTask({
      file_key: fileKey,
      file_id: 'waiting',
      generation: await from.adapters.counters.nextGeneration(),
      state: 'SERIALIZING',
      stage: 'embed',
      started_at: new Date(),
      handed_over_at: new Date(),
      context_parts: 3,
      upload: { ...sampleTask().upload, content_sha256: sha256Hex(bytes), size_bytes: bytes.length },
    });
    const { upload, generation, task_id: taskId } = task;
    await from.adapters.tasks.insert(task);
    await from.adapters.blobs.write(
      { blobId: upload.upload_id, kind: 'upload', fileKey, generation, taskId },
      Readable.from([bytes], { objectMode: false }),
    );
    const { partition, partition_key: partitionKey } = library;
    await from.adapters.files.admitFirst({
      fileKey,
      partition,
      partitionKey,
      fileId: 'waiting',
      userId: 1,
      taskId,
      generation,
    });
    await from.backup(ID);
    await to.restore(ID);
    const [again] = await to.adapters.tasks.listNotHandedOver(new Date(Date.now() + 60_000), 10);
    expect(again).toMatchObject({ task_id: taskId, state: 'QUEUED', stage: 'queued', started_at: null });
    expect(again).not.toHaveProperty('context_parts');
    const file = await to.adapters.files.get('library', 'waiting');
    expect(file).toMatchObject({ pending_task: taskId, live: null, latest_generation: again!.generation });
    const blob = await to.adapters.blobs.info(upload.upload_id);
    expect(blob).toMatchObject({ taskId, fileKey, generation: again!.generation, size: bytes.length });
    expect((await to.adapters.quotas.pending(1)).taskIds).toEqual([taskId]);
  }, 60_000);

  test('each file is there at one generation, whatever became of it meanwhile', async () => {
    const library = await partitionOf(from);
    await Promise.all(
      times(45, (file) =>
        from.addFile(library, `file-${String(file).padStart(2, '0')}`, [`first words ${file}`], {
          fileKey: `key-${String(file).padStart(2, '0')}`,
        }),
      ),
    );
    let moment = 0;
    await from.backup(ID, {
      async between() {
        moment += 1;
        if (moment !== 1) return;
        // 20 files are written; the others are replaced, deleted, and come.
        for (const name of ['file-05', 'file-30'])
          await from.addFile(library, name, ['second words', 'more of them'], {
            fileKey: name.replace('file', 'key'),
            bytes: Buffer.from(`second ${name}`),
          });
        await from.adapters.files.markDeleted('library', 'file-06');
        await from.adapters.files.markDeleted('library', 'file-31');
        await from.adapters.chunks.deleteFile('key-31');
        // Written already, and made anew behind what is written.
        await from.adapters.files.markDeleted('library', 'file-07');
        await from.addFile(library, 'file-07', ['other words'], {
          fileKey: 'key-99',
          bytes: Buffer.from('other file-07'),
        });
      },
    });
    expect(moment).toBeGreaterThan(2);
    const { counts } = await to.restore(ID);
    expect(counts).toMatchObject({ left_out: 1 });
    expect(await to.contentOf('library', 'file-07')).toMatchObject({ texts: ['other words'], vectors: 1 });
    expect(await to.contentOf('library', 'file-05')).toMatchObject({ texts: ['first words 5'] });
    expect(await to.contentOf('library', 'file-06')).toMatchObject({ texts: ['first words 6'], vectors: 1 });
    expect(await to.contentOf('library', 'file-30')).toMatchObject({
      texts: ['second words', 'more of them'],
      bytes: Buffer.from('second file-30'),
    });
    expect(await to.contentOf('library', 'file-31')).toBeNull();
  }, 60_000);

  test('a file that is replaced while its bytes are read is read again as it is then', async () => {
    const library = await partitionOf(from);
    await from.addFile(library, 'guide', ['first words'], { fileKey: 'key' });
    const { blobs } = from.source;
    let reads = 0;
    from.source.blobs = {
      ...blobs,
      async read(blobId, range) {
        reads += 1;
        const found = await blobs.read(blobId, range);
        if (reads === 1)
          await from.addFile(library, 'guide', ['second words'], {
            fileKey: 'key',
            bytes: Buffer.from('second'),
          });
        return found;
      },
    };
    await from.backup(ID);
    await to.restore(ID);
    expect(reads).toBe(2);
    expect(await to.contentOf('library', 'guide')).toMatchObject({
      texts: ['second words'],
      bytes: Buffer.from('second'),
    });
    // The bytes of the first attempt are not left behind.
    const left: string[] = [];
    for await (const { blobId } of to.adapters.blobs.scan()) left.push(blobId);
    expect(left).toHaveLength(1);
  }, 60_000);

  test('a partition that is moved to another embedder after its files were read is searched by it', async () => {
    const library = await partitionOf(from);
    const { fileKey, generation } = await from.addFile(library, 'guide', ['The quay is long.', 'It is lit.']);
    const { endpoints, backups } = from.adapters;
    const own = (await endpoints.get('embedder', 'builtin-hash'))!;
    await endpoints.create({ ...own, name: 'second', vector_field: 'vector_second' });
    const { blobs } = from.source;
    from.source.blobs = {
      ...blobs,
      async read(blobId, range) {
        const stored = (await backups.archive.getMany('partitions', ['library'])).get('library')!;
        const moved = { ...stored, embedder: 'second', swapped_from: ['builtin-hash'] };
        await backups.archive.write('partitions', [moved]);
        return blobs.read(blobId, range);
      },
    };
    await from.backup(ID);
    await to.restore(ID);
    expect((await to.adapters.files.get('library', 'guide'))?.live?.embedder).toBe('second');
    const ids = (await to.adapters.chunks.listByFile(fileKey, generation)).map(({ chunk_id: id }) => id);
    expect((await to.adapters.chunks.getVectors(ids, 'vector_second')).size).toBe(2);
  }, 60_000);

  test('fails where an embedder of its files is gone before it is read', async () => {
    const library = await partitionOf(from);
    await from.addFile(library, 'guide', ['words']);
    const { blobs } = from.source;
    from.source.blobs = {
      ...blobs,
      async read(blobId, range) {
        await from.adapters.endpoints.remove('embedder', 'builtin-hash');
        return blobs.read(blobId, range);
      },
    };
    await expect(from.backup(ID)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('builtin-hash'),
    });
  }, 60_000);

  test('a file without its partition is left out, and what it refers to and is gone is forgotten', async () => {
    const [library, other] = [await partitionOf(from), await partitionOf(from, 'other')];
    const user = await from.adapters.users.create({
      user_id: await from.adapters.counters.nextUserId(),
      display_name: 'Bo',
      external_user_id: null,
      email: null,
      is_admin: false,
      file_quota: null,
      token_digest: null,
    });
    await from.addFile(library, 'kept', ['kept words'], { userId: user.user_id });
    await from.addFile(other, 'gone', ['gone words']);
    let moment = 0;
    await from.backup(ID, {
      async between() {
        moment += 1;
        if (moment !== 1) return;
        const deleted = await from.adapters.partitions.markDeleted('other');
        await from.adapters.partitions.removeDeleted(deleted!);
        await from.adapters.users.markDeleted(user.user_id);
        await from.adapters.users.remove(user.user_id);
      },
    });
    const { counts } = await to.restore(ID);
    expect(counts).toMatchObject({ files: 1, left_out: 1 });
    expect(await to.contentOf('library', 'kept')).toMatchObject({ file: { created_by: null } });
    expect(await to.adapters.files.get('other', 'gone')).toBeNull();
    const uploads: string[] = [];
    for await (const { blobId } of to.adapters.blobs.scan()) uploads.push(blobId);
    expect(uploads).toHaveLength(1);
  }, 60_000);
});

describe('a restored proxy', () => {
  test('sends nothing that may have been sent; an operator releases it', async () => {
    await from.alerts.insert([
      sampleAlert({ identity: 'a', signal: { message: 'waiting' } }),
      sampleAlert({ identity: 'b', state: 'filtered', signal: { message: 'filtered' } }),
      sampleAlert({ identity: 'c', state: 'quarantined', stateReason: 'bad', signal: { message: 'bad' } }),
      sampleAlert({ identity: 'd', signal: { message: 'sent' } }),
    ]);
    const [, , , last] = (await from.alerts.list({ limit: 10, offset: 0 })).toSorted((a, b) => a.id - b.id);
    await from.alerts.markForwarded([last!.id], new Date());
    await from.backup(ID);
    await to.restore(ID);
    expect(await storedStates(to)).toEqual([
      ['withheld', RESTORED_WHILE_WAITING],
      ['filtered', null],
      ['quarantined', 'bad'],
      ['forwarded', null],
    ]);
    expect(await alertsOf(to)).toEqual(await alertsOf(from));
    expect(await to.alerts.summaries()).toEqual([
      expect.objectContaining({ watcher: 'watcher-1', waiting: 0, quarantined: 1 }),
    ]);
    expect(await to.alerts.keptBack()).toEqual([
      expect.objectContaining({ watcher: 'watcher-1', deferred: 1 }),
    ]);
    expect((await to.alerts.releaseDeferred('watcher-1', 10)).released).toBe(1);
    expect(await to.alerts.summaries()).toEqual([expect.objectContaining({ waiting: 1 })]);
    // Counted as they were, but for the place of what waited.
    expect(await to.statistics.read(null)).toEqual(await from.statistics.read(null));
    // What comes has ids of its own, and what was there is known by its identity.
    await to.alerts.insert([sampleAlert({ identity: 'a' }), sampleAlert({ identity: 'e' })]);
    const ids = (await to.alerts.list({ limit: 10, offset: 0 })).map(({ id }) => id);
    expect(ids).toHaveLength(5);
    expect(Math.max(...ids)).toBeGreaterThan(last!.id);
  }, 60_000);
});

describe('a proxy whose signals are replaced', () => {
  test('finds a scenario that it stored before by a part of its name', async () => {
    const signal = { message: 'pushed', scenario: 'own/new-scenario' };
    await from.backup(ID);
    await to.alerts.insert([sampleAlert({ identity: 'before', signal })]);
    await to.restore(ID, { replace: true });
    await to.alerts.insert([sampleAlert({ identity: 'after', signal })]);
    expect(await to.alerts.list({ limit: 10, offset: 0, scenario: 'new-scen' })).toHaveLength(1);
  }, 60_000);
});

describe('a page of records', () => {
  test('ends with the record that brings it to so many bytes', async () => {
    const { archive } = from.adapters.backups;
    await archive.write(
      'rule_sets',
      times(5, (id) => ({ _id: id + 1, texts: ['x'.repeat(1000)], count: 1 })),
    );
    const ids = async (page: { after: number | null; bytes?: number }) =>
      (await archive.page('rule_sets', { size: 4, ...page })).map(({ _id }) => _id);
    expect(await ids({ after: null })).toEqual([1, 2, 3, 4]);
    expect(await ids({ after: null, bytes: 2000 })).toEqual([1, 2]);
    expect(await ids({ after: 2, bytes: 1 })).toEqual([3]);
    expect(await ids({ after: 5, bytes: 1 })).toEqual([]);
  }, 60_000);
});

describe('records that are written', () => {
  test('are there but for those that a unique key refuses, which are answered', async () => {
    const { archive } = from.adapters.backups;
    const key = (id: string, name: string) => ({ _id: id, name, digest: id });
    expect(await archive.write('api_keys', [key('a', 'one')])).toEqual([]);
    const refused = await archive.write('api_keys', [key('a', 'one'), key('b', 'one'), key('c', 'two')]);
    expect(refused).toEqual([key('b', 'one')]);
    expect(await archive.existing('api_keys', ['a', 'b', 'c'])).toEqual(new Set(['a', 'c']));
    expect(await archive.matching('api_keys', { name: 'one' })).toEqual([key('a', 'one')]);
    await archive.remove('api_keys', ['a']);
    expect(await archive.write('api_keys', [key('b', 'one')])).toEqual([]);
  }, 60_000);
});

describe('a restore', () => {
  test('is refused where anything is stored, and says what, unless it may replace it', async () => {
    await partitionOf(from);
    await from.backup(ID);
    const own = await partitionOf(to, 'own');
    await to.addFile(own, 'mine', ['my words']);
    await expect(to.restore(ID)).rejects.toMatchObject({
      code: 'RESTORE_NOT_EMPTY',
      message: expect.stringContaining('files, partitions, tasks'),
    });
    expect(await to.contentOf('own', 'mine')).not.toBeNull();
    await to.restore(ID, { replace: true });
    expect(await to.adapters.files.get('own', 'mine')).toBeNull();
    expect(await to.adapters.partitions.get('library')).not.toBeNull();
    const left: unknown[] = [];
    for await (const generation of to.adapters.chunks.scanGenerations()) left.push(generation);
    for await (const blob of to.adapters.blobs.scan()) left.push(blob);
    expect(left).toEqual([]);
  }, 60_000);

  test('is refused where only rules or settings of an administrator are stored, which stay', async () => {
    await partitionOf(from);
    await from.backup(ID);
    const refusedFor = async (collection: string) =>
      expect(to.restore(ID)).rejects.toMatchObject({
        code: 'RESTORE_NOT_EMPTY',
        message: expect.stringContaining(`(${collection})`),
      });
    const { presets, prompts, endpoints, backups } = to.adapters;
    const seeded = (await presets.get('retrieval', 'default'))!;
    await presets.create({ ...seeded, name: 'own', seeded: false });
    await refusedFor('presets');
    expect(await presets.get('retrieval', 'own')).not.toBeNull();
    await to.restore(ID, { replace: true });
    await backups.archive.clear('partitions');

    const prompt = await prompts.create({ prompt_type: 'sys_prompt', name: 'own', content: 'Be brief.' });
    await refusedFor('prompts');
    await prompts.remove(prompt.id);

    const builtin = (await endpoints.get('llm', 'builtin-extractive'))!;
    const remote = { endpoint: 'https://models.example/v1', provider: null };
    await endpoints.seed({ ...builtin, ...remote, name: 'default', sealed_api_key: 'of the environment' });
    await endpoints.seed({ ...builtin, ...remote, name: 'found', provider: 'ollama' });
    await expect(checkRestore(to.source, { backupId: ID, replace: false })).resolves.toBeDefined();
    const { seeded: _, ...unmarked } = builtin;
    for (const provider of [null, 'ollama'] as const) {
      await endpoints.create({ ...unmarked, ...remote, name: 'own', provider });
      await refusedFor('model_endpoints');
      await endpoints.remove('llm', 'own');
    }

    await backups.archive.write('rule_sets', [{ _id: 1, texts: ['name: own'], count: 1 }]);
    await refusedFor('rule_sets');
    expect(await backups.archive.existing('rule_sets', [1])).toEqual(new Set([1]));
  }, 60_000);

  test('that is repeated from any part comes to the same', async () => {
    const library = await partitionOf(from);
    await Promise.all(times(30, (file) => from.addFile(library, `file-${file}`, [`words ${file}`])));
    await from.alerts.insert(times(20, (each) => sampleAlert({ identity: `alert ${each}` })));
    await from.backup(ID);
    const seen = new Set<number>();
    await to.restore(ID, {
      async between(position) {
        // Each part twice, as after a crash before its position was kept.
        if (position.part === 0 || seen.has(position.part)) return position;
        seen.add(position.part);
        return { ...position, part: position.part - 1 };
      },
    });
    expect(seen.size).toBeGreaterThan(3);
    expect((await to.adapters.files.countLive(['library'])).get('library')).toBe(30);
    expect(await to.search('library', 'words 7')).toEqual(await from.search('library', 'words 7'));
    expect((await to.alerts.list({ limit: 100, offset: 0 })).length).toBe(20);
  }, 60_000);

  test('is refused for a damaged part, a damaged manifest, another key and a later release', async () => {
    const library = await partitionOf(from);
    await from.addFile(library, 'guide', ['words']);
    await from.backup(ID);
    const check = (change: object = {}) =>
      checkRestore({ ...to.source, ...change }, { backupId: ID, replace: false });
    await expect(check()).resolves.toMatchObject({ backup_id: ID });
    await expect(check({ keyFingerprints: [] })).rejects.toMatchObject({
      code: 'BACKUP_NOT_USABLE',
      message: expect.stringContaining(from.adapters.backups.keyFingerprints[0]!),
    });
    await from.adapters.backups.archive.write('schema_steps', [{ _id: 'a step of tomorrow' }]);
    await from.backup('20260201T000000Z-0a1b2c3d');
    await expect(to.restore('20260201T000000Z-0a1b2c3d')).rejects.toMatchObject({
      code: 'BACKUP_NOT_USABLE',
      message: expect.stringContaining('a step of tomorrow'),
    });
    const name = [...storage.objects.keys()].find((key) => key.includes('-files') && key.startsWith(ID))!;
    const part = storage.objects.get(name)!;
    part[part.length - 5]! ^= 1;
    await expect(to.restore(ID)).rejects.toMatchObject({
      code: 'BACKUP_NOT_USABLE',
      message: expect.stringContaining('damaged'),
    });
    const own = await partitionOf(to, 'own');
    await to.addFile(own, 'mine', ['my words']);
    await expect(to.restore(ID, { replace: true })).rejects.toMatchObject({
      code: 'BACKUP_NOT_USABLE',
      message: expect.stringContaining('damaged'),
    });
    // What worked is there as before.
    expect(await to.contentOf('own', 'mine')).toMatchObject({ texts: ['my words'], vectors: 1 });
    const manifest = storage.objects.get(`${ID}/manifest.json`)!;
    storage.objects.set(
      `${ID}/manifest.json`,
      Buffer.from(manifest.toString().replace('"vectors": true', '"vectors": false')),
    );
    await expect(check()).rejects.toMatchObject({ code: 'BACKUP_NOT_USABLE' });
  }, 60_000);
});

describe('a backup made between a change of SECRETS_KEY and the sealing anew', () => {
  test('wants the key before as well, as long as something is sealed with it', async () => {
    const formerKey = randomBytes(32).toString('base64');
    const [before, after] = [formerKey, KEY].map((key) => createEncryption(Buffer.from(key, 'base64'), []));
    const changed = await openBackupStage({ storage, secretsKey: KEY, formerKey });
    stages.push(changed);
    const { archive, keyFingerprints } = changed.adapters.backups;
    const source = (box: string) => [{ _id: 'one', url: 'https://other.example', sealed_token: box }];
    await archive.write('import_sources', source(before!.seal('token', 'one')));
    await changed.backup(ID);
    await expect(to.restore(ID)).rejects.toMatchObject({
      code: 'BACKUP_NOT_USABLE',
      message: expect.stringContaining(keyFingerprints[1]!),
    });
    const both = { ...to.source, keyFingerprints };
    await expect(checkRestore(both, { backupId: ID, replace: false })).resolves.toBeDefined();
    const later = '20260201T000000Z-0a1b2c3d';
    await archive.write('import_sources', source(after!.seal('token', 'one')));
    await changed.backup(later);
    await to.restore(later);
  }, 60_000);
});

describe('what a backup holds', () => {
  test('every collection is in it or is left out for a reason', async () => {
    const library = await partitionOf(from);
    await from.addFile(library, 'guide', ['words']);
    await from.alerts.insert([sampleAlert()]);
    const collections = await from.collections();
    const known = new Set([...ARCHIVED.map(({ collection }) => collection), ...Object.keys(LEFT_OUT)]);
    expect(collections.filter((name) => !known.has(name))).toEqual([]);
    expect(collections.length).toBeGreaterThan(20);
  }, 60_000);
});
