import { describe, expect, it } from '@jest/globals';
import { checkStores } from '../../../activities/documents/clean-up/check-stores.js';
import { settleChunks } from '../../../activities/documents/clean-up/settle-file.js';
import { mergeMetadata } from '../../../schemas/documents/merge-metadata.js';
import { seededPresets } from '../../../activities/models/seeds/seeded-presets.js';
import type { ParserPool } from '../../../activities/documents/parsing/parser-pool.js';
import { toVersionEntries } from '../../../activities/documents/metadata-entries.js';
import type { ParseRequest } from '../../../activities/documents/parsing/parser-pool.js';
import { AppError } from '../../../schemas/app-error.js';
import { parseConfig } from '../../../schemas/config/config.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { chunkId } from '../../../schemas/documents/chunk-id.js';
import { until } from '../../support/until.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';
import { createSweepActivities } from '../../../activities/documents/sweep-activities.js';
import { activityBench, inActivity, refOf, scriptedParser } from '../../support/activity-bench.js';
import { sampleReport } from '../../support/documents/sample-report.js';
import type { ActivityBench } from '../../support/activity-bench.js';
import { wholeChunks } from '../../support/whole-chunks.js';

function drifts(bench: ActivityBench) {
  return checkStores(bench, { deduplicate: true });
}

/** All steps of the plan, each once. */
async function index(bench: ActivityBench, task: TaskRecord) {
  const ref = refOf(task);
  const { chunkCount } = await inActivity(() => bench.documents.parseDocument(ref)).result;
  await inActivity(() => bench.embedding.embedDocument(ref)).result;
  return inActivity(() => bench.documents.publishDocument(ref, chunkCount)).result;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
}

describe('the steps of an indexing', () => {
  it('make a file live and leave nothing else', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    expect(await index(bench, task)).toEqual({ replaced: false });
    const file = await bench.files.get('library', 'guide');
    expect(file?.live).toMatchObject({ generation: task.generation, chunk_count: 3 });
    expect(await bench.tasks.get(task.task_id)).toMatchObject({ state: 'COMPLETED', progress: 1 });
    expect(await drifts(bench)).toEqual([]);
  });

  it('have the chunks say what the record says of the version', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await index(bench, task);
    const live = (await bench.files.get('library', 'guide'))!.live!;
    expect(live.indexed_at).toEqual((await bench.tasks.get(task.task_id))?.started_at);
    for (const { metadata } of await wholeChunks(bench.chunks, task.file_key, task.generation))
      expect(metadata).toEqual(toVersionEntries(live));
  });

  it('may each run twice', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const ref = refOf(task);
    for (const step of [
      () => bench.documents.parseDocument(ref),
      () => bench.embedding.embedDocument(ref),
      () => bench.documents.publishDocument(ref, 3),
    ])
      for (const _time of [1, 2]) await inActivity<unknown>(step).result;
    await bench.documents.cleanFile(task.file_key);
    expect(await bench.chunks.listByFile(task.file_key, task.generation)).toHaveLength(3);
    expect(await drifts(bench)).toEqual([]);
  });

  it('replace a version, and clean-up removes the old one only', async () => {
    const bench = await activityBench();
    const first = await bench.admit('guide', 'text');
    await index(bench, first);
    const second = await bench.admit('guide', 'another text');
    expect(await index(bench, second)).toEqual({ replaced: true });
    await bench.documents.cleanFile(second.file_key);
    expect(await bench.chunks.listByFile(first.file_key, first.generation)).toEqual([]);
    expect(await bench.chunks.listByFile(second.file_key, second.generation)).toHaveLength(3);
    expect(await drifts(bench)).toEqual([]);
  });
});

describe('a mail', () => {
  const mailParser = {
    parseAndChunk: async (request: ParseRequest) => ({
      ...(await scriptedParser(['one', 'two']).parseAndChunk(request)),
      mail: { thread: 'first@mill.example', parent: 'second@mill.example' },
    }),
  };
  const indexedWith = async (given: { relationship_id: string | null; parent_id: string | null }) => {
    const bench = await activityBench(mailParser);
    const task = await bench.admit('guide', 'text');
    await bench.tasks.noteEnrichment(task.task_id, { relationship: given });
    await index(bench, task);
    const chunks = await bench.chunks.listByFile(task.file_key, task.generation);
    return [(await bench.files.get('library', 'guide'))?.live, ...chunks];
  };

  it('says itself which thread it belongs to', async () => {
    const found = await indexedWith({ relationship_id: null, parent_id: null });
    expect(found).toHaveLength(3);
    for (const one of found)
      expect(one).toMatchObject({ relationship_id: 'first@mill.example', parent_id: 'second@mill.example' });
  });

  it('leaves what the client said of it', async () => {
    const given = { relationship_id: 'case 7', parent_id: null };
    for (const one of await indexedWith(given)) expect(one).toMatchObject(given);
  });
});

describe('parseDocument', () => {
  it('refuses a document without text', async () => {
    const bench = await activityBench(scriptedParser([]));
    const ref = refOf(await bench.admit('guide', 'text'));
    expect(await codeOf(inActivity(() => bench.documents.parseDocument(ref)).result)).toBe(
      'NO_INDEXABLE_CONTENT',
    );
  });

  it('does nothing for a task that has ended', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await bench.tasks.finish(task.task_id, 'CANCELLED');
    expect(await codeOf(inActivity(() => bench.documents.parseDocument(refOf(task))).result)).toBe(
      'TASK_CANCELLED',
    );
  });

  it('reports pages done, and what came of reading with the version', async () => {
    const report = sampleReport({ degraded: true, reasons: ['cut off'] });
    const scripted = scriptedParser(['one']);
    const progress: unknown[] = [];
    const parser: Pick<ParserPool, 'parseAndChunk'> = {
      async parseAndChunk(request) {
        request.onProgress?.({ chunks: 1, pages: { done: 50, total: 100 } });
        progress.push((await bench.tasks.get(task.task_id))?.progress);
        return { ...(await scripted.parseAndChunk(request)), report };
      },
    };
    const bench = await activityBench(parser);
    const task = await bench.admit('guide', 'text');
    await index(bench, task);
    expect(progress).toEqual([0.15]);
    expect((await bench.tasks.get(task.task_id))?.parse_report).toEqual(report);
    const live = (await bench.files.get('library', 'guide'))?.live;
    expect(live).toMatchObject({ parse_report: report, degraded_stages: ['parse'] });
    const scope = { kind: 'all', userId: 1 } as const;
    expect(await bench.files.listLive(scope, 'library', { degradedStage: 'parse' })).toHaveLength(1);
  });

  it('takes three crashes for a damaged file, and says so to a person', async () => {
    const crash = new AppError('PARSER_CRASHED', undefined, { details: { ended: 'SIGABRT' } });
    const bench = await activityBench(scriptedParser(crash));
    const ref = refOf(await bench.admit('guide', 'text'));
    const parse = (attempt: number) =>
      inActivity(() => bench.documents.parseDocument(ref), { attempt }).result.catch(
        (error: unknown) => error,
      );
    expect(await parse(1)).toMatchObject({ code: 'PARSER_CRASHED' });
    expect(await parse(2)).toMatchObject({ code: 'PARSER_CRASHED' });
    expect(await parse(3)).toMatchObject({
      code: 'FILE_CORRUPT',
      message:
        'The program that reads this type of file stopped on it 3 times. ' +
        'Saving the file anew in the program it comes from may help.',
    });
  });

  it('counts no attempt that ended otherwise as a crash', async () => {
    const ends = [
      new AppError('STORAGE_ERROR'),
      new AppError('STORAGE_ERROR'),
      new AppError('PARSER_CRASHED'),
    ];
    const bench = await activityBench({
      async parseAndChunk() {
        throw ends.shift();
      },
    });
    const ref = refOf(await bench.admit('guide', 'text'));
    const codes: string[] = [];
    for (const attempt of [1, 2, 3])
      codes.push(await codeOf(inActivity(() => bench.documents.parseDocument(ref), { attempt }).result));
    expect(codes).toEqual(['STORAGE_ERROR', 'STORAGE_ERROR', 'PARSER_CRASHED']);
  });
});

describe('parseDocument that is to go on', () => {
  const goOn = (bench: ActivityBench, task: TaskRecord, info: { attempt?: number } = {}) =>
    inActivity(() => bench.documents.parseDocument(refOf(task), { goOn: true }), info).result;

  it('makes a small document live, and leaves nothing else', async () => {
    const report = sampleReport({ degraded: true, reasons: ['cut off'] });
    const scripted = scriptedParser(['one', 'two']);
    const bench = await activityBench({
      parseAndChunk: async (request) => ({ ...(await scripted.parseAndChunk(request)), report }),
    });
    const task = await bench.admit('guide', 'text');
    expect(await goOn(bench, task)).toEqual({
      chunkCount: 2,
      stored: true,
      published: { replaced: false },
    });
    const live = (await bench.files.get('library', 'guide'))?.live;
    expect(live).toMatchObject({ chunk_count: 2, parse_report: report, degraded_stages: ['parse'] });
    expect(await bench.tasks.get(task.task_id)).toMatchObject({
      state: 'COMPLETED',
      progress: 1,
      parse_report: report,
      cleaned_at: expect.any(Date),
    });
    expect(await bench.chunks.listByFile(task.file_key, task.generation)).toHaveLength(2);
    expect(await drifts(bench)).toEqual([]);
    // Its worker died before it could say so.
    expect(await goOn(bench, task, { attempt: 2 })).toEqual({
      chunkCount: 2,
      stored: true,
      published: { replaced: true },
    });
  });

  it('has the old version of a replaced file cleaned up', async () => {
    const bench = await activityBench();
    await goOn(bench, await bench.admit('guide', 'text'));
    const second = await bench.admit('guide', 'another text');
    expect(await goOn(bench, second)).toMatchObject({ published: { replaced: true } });
    expect(await bench.tasks.get(second.task_id)).toMatchObject({ state: 'COMPLETED', cleaned_at: null });
    await bench.documents.cleanFile(second.file_key);
    expect(await drifts(bench)).toEqual([]);
  });

  it('removes the bytes where uploads are not kept', async () => {
    const bench = await activityBench(scriptedParser(['one']), { keepUploads: false });
    const task = await bench.admit('guide', 'text');
    await goOn(bench, task);
    expect(await bench.blobs.info(task.upload.upload_id)).toBeNull();
    expect(await bench.tasks.get(task.task_id)).toMatchObject({ cleaned_at: expect.any(Date) });
  });

  it('leaves the chunk list to the next step when the embedder is away', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const { put } = bench.chunks;
    bench.chunks.put = () => Promise.reject(new AppError('VDB_CONNECTION_ERROR'));
    expect(await goOn(bench, task)).toEqual({ chunkCount: 3 });
    expect(await bench.tasks.get(task.task_id)).toMatchObject({ state: 'SERIALIZING', stage: 'chunk' });
    bench.chunks.put = put;
    const embed = () =>
      inActivity(() => bench.embedding.embedDocument(refOf(task), { publish: true })).result;
    expect(await embed()).toEqual({ stored: 3, published: { replaced: false } });
    expect(await drifts(bench)).toEqual([]);
  });

  it('leaves only publishing to the next step when that fails', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const { publish } = bench.files;
    bench.files.publish = () => Promise.reject(new AppError('STORAGE_ERROR'));
    expect(await goOn(bench, task)).toEqual({ chunkCount: 3, stored: true });
    bench.files.publish = publish;
    bench.chunks.put = () => Promise.reject(new Error('nothing is left to be stored'));
    expect(await inActivity(() => bench.documents.publishDocument(refOf(task), 3)).result).toEqual({
      replaced: false,
    });
    expect(await drifts(bench)).toEqual([]);
  });

  // Within the task of its plan each attempt is the first by its own count.
  it.each([1, 2])('removes the list that an attempt before it has left (as attempt %d)', async (attempt) => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    expect(await goOn(bench, task, { attempt })).toMatchObject({ published: { replaced: false } });
    expect(await bench.blobs.info(`${task.task_id}.chunks`)).toBeNull();
    expect(await drifts(bench)).toEqual([]);
  });

  it('gives way to a newer upload', async () => {
    const bench = await activityBench();
    const older = await bench.admit('guide', 'text');
    const newer = await bench.admit('guide', 'newer text');
    expect(await goOn(bench, older)).toEqual({ chunkCount: 3, stored: true });
    expect((await bench.files.get('library', 'guide'))?.live).toBeNull();
    await goOn(bench, newer);
    expect((await bench.files.get('library', 'guide'))?.live?.generation).toBe(newer.generation);
  });

  it('stops with the list put down where a document is longer, or the embedder was swapped', async () => {
    const texts = Array.from({ length: 100 }, (_, position) => `passage ${position}`);
    const long = await activityBench(scriptedParser(texts));
    expect(await goOn(long, await long.admit('guide', 'text'))).toEqual({ chunkCount: 100 });

    const swapped = await activityBench();
    const task = await swapped.admit('guide', 'text');
    const { get } = swapped.partitions;
    const own = (await swapped.endpoints.get('embedder', 'builtin-hash'))!;
    await swapped.endpoints.seed({ ...own, name: 'another', vector_field: 'vector_another' });
    swapped.partitions.get = async (name) => ({
      ...(await get(name))!,
      embedder: 'another',
      swapped_from: ['builtin-hash'],
    });
    expect(await goOn(swapped, task)).toEqual({ chunkCount: 3 });
    expect(await swapped.blobs.info(`${task.task_id}.chunks`)).not.toBeNull();
  });

  it('shows no stage that is over at once, and one that lasts', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    let release = (): void => undefined;
    const { put } = bench.chunks;
    const ensure = bench.chunks.ensureField;
    bench.chunks.ensureField = async (field) => {
      await new Promise<void>((resolve) => (release = resolve));
      return ensure(field);
    };
    const stages: unknown[] = [];
    bench.chunks.put = async (...given) => {
      stages.push((await bench.tasks.get(task.task_id))?.stage);
      return put(...given);
    };
    const done = goOn(bench, task);
    await until('the stage is shown', async () => (await bench.tasks.get(task.task_id))?.stage === 'embed');
    release();
    expect(await done).toMatchObject({ published: { replaced: false } });
    expect(stages).toEqual(['embed']);
  });
});

describe('embedDocument', () => {
  it('goes on from the cursor of the former attempt', async () => {
    const texts = Array.from({ length: 100 }, (_, position) => `passage ${position}`);
    const bench = await activityBench(scriptedParser(texts));
    const task = await bench.admit('guide', 'text');
    const ref = refOf(task);
    await inActivity(() => bench.documents.parseDocument(ref)).result;
    const first = inActivity(() => bench.embedding.embedDocument(ref));
    await first.result;
    const cursor = first.beats[0] as { stored: number };
    expect(cursor.stored).toBeLessThan(100);

    await bench.chunks.deleteGenerations(task.file_key, { keep: [], upTo: task.generation });
    const retry = inActivity(() => bench.embedding.embedDocument(ref), {
      attempt: 2,
      heartbeatDetails: cursor,
    });
    expect(await retry.result).toEqual({ stored: 100 });
    const stored = await bench.chunks.listByFile(task.file_key, task.generation);
    expect(stored.map((chunk) => chunk.position)).toEqual(
      Array.from({ length: 100 - cursor.stored }, (_, index) => index + cursor.stored),
    );
  });

  const embedLong = async (onEmbed: (batch: number) => Promise<void> | void) => {
    const texts = Array.from({ length: 100 }, (_, position) => `passage ${position}`);
    let batches = 0;
    const bench = await activityBench(scriptedParser(texts), {
      wrapModels: (models) => ({
        ...models,
        embedder: async (name) => {
          const embedder = await models.embedder(name);
          return {
            ...embedder,
            embed: async (given, options) => {
              batches += 1;
              await onEmbed(batches);
              return embedder.embed(given, options);
            },
          };
        },
      }),
    });
    const task = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    const put = bench.chunks.put.bind(bench.chunks);
    return { bench, task, put, embed: () => inActivity(() => bench.embedding.embedDocument(refOf(task))) };
  };

  it('embeds a batch while the one before is stored', async () => {
    let begun = (): void => undefined;
    const second = new Promise<void>((resolve) => (begun = resolve));
    const { bench, put, embed } = await embedLong((batch) => {
      if (batch === 2) begun();
    });
    bench.chunks.put = async (...given) => {
      await second;
      await put(...given);
    };
    expect(await embed().result).toEqual({ stored: 100 });
  });

  it('ends when nothing is being stored any more, and leaves what is stored to the next attempt', async () => {
    let fail = (): void => undefined;
    const failed = new Promise<void>((resolve) => (fail = resolve));
    const { bench, task, put, embed } = await embedLong((batch) => {
      if (batch !== 2) return;
      fail();
      throw new AppError('EMBEDDING_API_ERROR');
    });
    let ended = 0;
    bench.chunks.put = async (...given) => {
      await failed;
      await put(...given);
      ended += 1;
    };
    const attempt = embed();
    expect(await codeOf(attempt.result)).toBe('EMBEDDING_API_ERROR');
    expect(ended).toBe(1);
    const stored = await bench.chunks.listByFile(task.file_key, task.generation);
    expect(attempt.beats).toEqual([{ stored: stored.length }]);
  });

  it('embeds no further than one batch when storing fails', async () => {
    let embedded = 0;
    const { bench, embed } = await embedLong((batch) => {
      embedded = batch;
    });
    bench.chunks.put = () => Promise.reject(new AppError('VDB_ERROR'));
    const attempt = embed();
    expect(await codeOf(attempt.result)).toBe('VDB_ERROR');
    expect(embedded).toBe(2);
    expect(attempt.beats).toEqual([]);
  });

  it('leaves the mark to the next step where an attempt with smaller batches began', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    // As an attempt left it that took one text at a time.
    const { put } = bench.chunks;
    bench.chunks.put = async (entries, ...rest) => {
      await put(entries, ...rest);
      expect(entries.map(({ chunk }) => chunk.published)).toEqual([false, false]);
    };
    const retry = inActivity(() => bench.embedding.embedDocument(refOf(task), { publish: true }), {
      attempt: 2,
      heartbeatDetails: { stored: 1 },
    });
    expect(await retry.result).toEqual({ stored: 3 });
  });

  it('publishes a document of one batch itself when asked to, once', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    const embed = () =>
      inActivity(() => bench.embedding.embedDocument(refOf(task), { publish: true })).result;
    expect(await embed()).toEqual({ stored: 3, published: { replaced: false } });
    expect((await bench.files.get('library', 'guide'))?.live).toMatchObject({ chunk_count: 3 });
    expect(await bench.tasks.get(task.task_id)).toMatchObject({ state: 'COMPLETED', progress: 1 });
    expect(await drifts(bench)).toEqual([]);
    // Its worker died before it could say so.
    expect(await embed()).toMatchObject({ published: { replaced: true } });
  });

  it('embeds nothing again when only publishing failed', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const ref = refOf(task);
    await inActivity(() => bench.documents.parseDocument(ref)).result;
    bench.chunks.show = () => Promise.reject(new AppError('VDB_ERROR'));
    const failed = inActivity(() => bench.embedding.embedDocument(ref, { publish: true }));
    expect(await codeOf(failed.result)).toBe('VDB_ERROR');
    bench.chunks.put = () => Promise.reject(new Error('nothing is left to be stored'));
    const retry = inActivity(() => bench.embedding.embedDocument(ref, { publish: true }), {
      attempt: 2,
      heartbeatDetails: failed.beats.at(-1),
    });
    expect(await retry.result).toEqual({ stored: 3 });
    expect(await inActivity(() => bench.documents.publishDocument(ref, 3)).result).toEqual({
      replaced: false,
    });
    expect(await drifts(bench)).toEqual([]);
  });

  it('leaves a longer one to the step behind it', async () => {
    const texts = Array.from({ length: 100 }, (_, position) => `passage ${position}`);
    const bench = await activityBench(scriptedParser(texts));
    const ref = refOf(await bench.admit('guide', 'text'));
    await inActivity(() => bench.documents.parseDocument(ref)).result;
    const embedded = inActivity(() => bench.embedding.embedDocument(ref, { publish: true })).result;
    expect(await embedded).toEqual({ stored: 100 });
    expect((await bench.files.get('library', 'guide'))?.live).toBeNull();
  });

  it.each([false, true])('stops when the task ends meanwhile (to be published: %s)', async (publish) => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    const put = bench.chunks.put.bind(bench.chunks);
    bench.chunks.put = async (...args) => {
      await put(...args);
      await bench.tasks.finish(task.task_id, 'CANCELLED');
    };
    const embedded = inActivity(() => bench.embedding.embedDocument(refOf(task), { publish })).result;
    expect(await codeOf(embedded)).toBe('TASK_CANCELLED');
    expect((await bench.files.get('library', 'guide'))?.live).toBeNull();
  });
});

describe('publishDocument', () => {
  it.each([
    ['in the moment in which it is published', 1],
    ['then, by an attempt that dies before it has seen it', 2],
  ])('makes a version of the new embedder where a swap is switched %s', async (_when, attempts) => {
    const bench = await activityBench();
    const { files, partitions } = bench;
    const own = (await bench.endpoints.get('embedder', 'builtin-hash'))!;
    await bench.endpoints.seed({ ...own, name: 'another', vector_field: 'vector_another' });
    const task = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    await inActivity(() => bench.embedding.embedDocument(refOf(task))).result;
    const { partition_key } = (await partitions.get('library'))!;
    const { publish } = files;
    files.publish = async (...given) => {
      files.publish = publish;
      const place = { partition: 'library', partition_key };
      await partitions.beginSwap(place, { swap_id: 's', source: 'builtin-hash', target: 'another' });
      // Its passes over the live files find nothing.
      await partitions.endSwap('library', 's', { switched: true });
      await files.switchEmbedder(partition_key, 'builtin-hash', 'another');
      const published = await publish(...given);
      if (attempts > 1) throw new AppError('STORAGE_ERROR');
      return published;
    };
    const attempt = () => inActivity(() => bench.documents.publishDocument(refOf(task), 3)).result;
    if (attempts > 1) await expect(attempt()).rejects.toThrow();
    await attempt();
    const { file_key, live } = (await files.get('library', 'guide'))!;
    expect(live).toMatchObject({ embedder: 'another', generation: task.generation });
    const ids = [0, 1, 2].map((position) => chunkId(file_key, task.generation, position));
    expect((await bench.chunks.getVectors(ids, 'vector_another')).size).toBe(3);
  });

  it('gives way to a newer upload', async () => {
    const bench = await activityBench();
    const older = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(older))).result;
    await inActivity(() => bench.embedding.embedDocument(refOf(older))).result;
    const newer = await bench.admit('guide', 'newer text');
    const late = inActivity(() => bench.documents.publishDocument(refOf(older), 3)).result;
    expect(await codeOf(late)).toBe('SUPERSEDED');
    expect((await bench.files.get('library', 'guide'))?.live).toBeNull();
    await index(bench, newer);
    expect((await bench.files.get('library', 'guide'))?.live?.generation).toBe(newer.generation);
  });

  it('gives way to a newer upload whose clean-up took its chunks', async () => {
    const bench = await activityBench();
    const older = await bench.admit('guide', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(older))).result;
    await inActivity(() => bench.embedding.embedDocument(refOf(older))).result;
    const newer = await bench.admit('guide', 'newer text');
    await index(bench, newer);
    await bench.documents.cleanFile(newer.file_key);
    const late = inActivity(() => bench.documents.publishDocument(refOf(older), 3)).result;
    expect(await codeOf(late)).toBe('SUPERSEDED');
  });

  it('has the chunks say what was changed after an attempt that did not end', async () => {
    const bench = await activityBench();
    const task = await publishedAndNotEnded(bench);
    const file = (await bench.files.get('library', 'guide'))!;
    const changed = mergeMetadata(file.live!, { shelf: 'upper' });
    await bench.files.change({ file, token: 'a client', live: changed, metadataPatch: null });
    await settleChunks(bench, task.file_key, ['a client']);
    const ref = refOf(task);
    await inActivity(() => bench.embedding.embedDocument(ref, { publish: true })).result;
    const live = (await bench.files.get('library', 'guide'))!.live!;
    expect(live.metadata).toMatchObject({ shelf: 'upper' });
    for (const { metadata } of await wholeChunks(bench.chunks, task.file_key, task.generation))
      expect(metadata).toEqual(toVersionEntries(live));
    await bench.documents.cleanFile(task.file_key);
    expect(await drifts(bench)).toEqual([]);
  });
});

/** A task whose version became visible; what follows failed, and went on failing. */
async function publishedAndNotEnded(bench: ActivityBench): Promise<TaskRecord> {
  const task = await bench.admit('guide', 'text');
  const { complete } = bench.tasks;
  bench.tasks.complete = () => Promise.reject(new Error('the store went away'));
  await expect(index(bench, task)).rejects.toThrow('the store went away');
  bench.tasks.complete = complete;
  return task;
}

describe('endTask', () => {
  it('frees the file, its content and its place', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const failure = { code: 'FILE_CORRUPT', message: 'damaged', traceback: ['x'.repeat(20_000)] };
    expect(await bench.documents.endTask(refOf(task), failure)).toBe('FAILED');
    await bench.documents.cleanFile(task.file_key);
    const record = await bench.tasks.get(task.task_id);
    expect(record?.error).toMatchObject({ code: 'FILE_CORRUPT', message: 'damaged' });
    expect(record?.error?.traceback.join('\n').length).toBeLessThanOrEqual(8000);
    expect(await bench.blobs.info(task.upload.upload_id)).toBeNull();
    const again = await bench.admit('guide', 'text');
    expect(await index(bench, again)).toEqual({ replaced: false });
    expect(await drifts(bench)).toEqual([]);
  });

  it('has let go of the bytes and of the place by the time that the task reads FAILED', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const place = { userId: task.user_id, taskId: task.task_id, room: 1, turn: 0 };
    expect(await bench.quotas.reserve(place)).toBe('reserved');
    const { finish } = bench.tasks;
    const seen: unknown[] = [];
    bench.tasks.finish = async (...given) => {
      const claim = {
        partition: 'library',
        digest: task.upload.content_sha256,
        fileKey: 'key-of-another',
        fileId: 'another',
        taskId: 'another-task',
      };
      seen.push(await bench.claims.claim(claim), (await bench.quotas.pending(task.user_id)).taskIds);
      return finish(...given);
    };
    const failure = { code: 'FILE_CORRUPT', message: 'damaged', traceback: [] };
    expect(await bench.documents.endTask(refOf(task), failure)).toBe('FAILED');
    expect(seen).toEqual([null, []]);
  });

  it('never changes a final state', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await bench.tasks.finish(task.task_id, 'CANCELLED');
    const failure = { code: 'FILE_CORRUPT', message: 'damaged', traceback: [] };
    expect(await bench.documents.endTask(refOf(task), failure)).toBe('CANCELLED');
  });

  it('ends as COMPLETED what is live, whatever failed after that', async () => {
    const bench = await activityBench();
    const task = await publishedAndNotEnded(bench);
    const failure = { code: 'TASK_EXPIRED', message: 'too late', traceback: [] };
    expect(await bench.documents.endTask(refOf(task), failure)).toBe('COMPLETED');
    expect(await bench.tasks.get(task.task_id)).toMatchObject({ state: 'COMPLETED', error: null });
    expect((await bench.files.get('library', 'guide'))?.live?.task_id).toBe(task.task_id);
  });
});

describe('endTask of a task that a newer upload has overtaken', () => {
  it.each(['NOT_FOUND', 'TASK_EXPIRED'])('says so, whatever failed: %s', async (code) => {
    const bench = await activityBench();
    const older = await bench.admit('guide', 'text');
    await index(bench, await bench.admit('guide', 'newer text'));
    const failure = { code, message: 'its chunks are gone', traceback: [] };
    expect(await bench.documents.endTask(refOf(older), failure)).toBe('CANCELLED');
    expect((await bench.tasks.get(older.task_id))?.error?.code).toBe('SUPERSEDED');
  });
});

describe('cleanFile', () => {
  it('leaves a version its claim that is admitted and published while it runs', async () => {
    const bench = await activityBench();
    const first = await bench.admit('guide', 'text');
    const failure = { code: 'TASK_CANCELLED', message: 'cancelled', traceback: [] };
    await bench.documents.endTask(refOf(first), failure);
    const { deleteGenerations } = bench.chunks;
    // Behind its look at the record, and before its look at the tasks.
    bench.chunks.deleteGenerations = async (...given) => {
      const removed = await deleteGenerations(...given);
      bench.chunks.deleteGenerations = deleteGenerations;
      await index(bench, await bench.admit('guide', 'another text'));
      return removed;
    };
    await bench.documents.cleanFile(first.file_key);
    expect(await drifts(bench)).toEqual([]);
  });

  it('removes everything of a deleted file, its tasks ended', async () => {
    const bench = await activityBench();
    await index(bench, await bench.admit('guide', 'text'));
    const running = await bench.admit('guide', 'newer text');
    await inActivity(() => bench.documents.parseDocument(refOf(running))).result;
    await bench.files.markDeleted('library', 'guide');
    await bench.documents.cleanFile(running.file_key);
    expect(await bench.tasks.get(running.task_id)).toMatchObject({ state: 'CANCELLED' });
    expect(await bench.blobs.listByFile(running.file_key)).toEqual([]);
    expect((await bench.files.getMany([running.file_key])).size).toBe(0);
    expect(await drifts(bench)).toEqual([]);
  });
});

describe('the sweep', () => {
  it('starts what was admitted and discards what was not', async () => {
    const bench = await activityBench();
    const admitted = await bench.admit('guide', 'text');
    const orphan = { ...admitted, task_id: 'orphan', file_key: 'unknown', file_id: 'other' };
    await bench.tasks.insert({ ...orphan, upload: { ...orphan.upload, upload_id: 'none' } });
    // By the names that the gateway gives the plans that it starts.
    const names = { partition: 'library', fileId: 'guide' };
    expect(await bench.sweep.findUnstarted()).toEqual([{ ...refOf(admitted), ...names, small: true }]);
    expect(await bench.tasks.get('orphan')).toBeNull();
  });

  it('takes nothing from a task whose file comes to wait for it while it is discarded', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const admitted = (await bench.files.getMany([task.file_key])).get(task.file_key)!;
    const { getMany } = bench.files;
    const before = { ...admitted, pending_task: null };
    // As it was when the sweep looked, and once more before the task ends.
    for (const looks of [1, 2]) {
      let left = looks;
      bench.files.getMany = async (...given) =>
        (left -= 1) >= 0 ? new Map([[task.file_key, before]]) : getMany(...given);
      await bench.sweep.findUnstarted();
      bench.files.getMany = getMany;
      const state = looks === 1 ? 'QUEUED' : 'CANCELLED';
      expect(await bench.tasks.get(task.task_id)).toMatchObject({ state });
      expect(await bench.blobs.info(task.upload.upload_id)).not.toBeNull();
    }
    // Cancelled, and its file is free: the clean-up finds the rest.
    expect(await bench.sweep.findDirtyFiles()).toEqual([task.file_key]);
    await bench.documents.cleanFile(task.file_key);
    expect(await drifts(bench)).toEqual([]);
  });

  it('leaves alone what has become live since it was listed', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    const listed = await bench.tasks.listNotHandedOver(new Date(Date.now() + 1000), 10);
    expect(listed.map(({ task_id }) => task_id)).toEqual([task.task_id]);
    await index(bench, task);
    bench.tasks.listNotHandedOver = async () => listed;
    expect(await bench.sweep.findUnstarted()).toEqual([]);
    expect(await bench.tasks.get(task.task_id)).toMatchObject({ state: 'COMPLETED' });
    expect(await bench.blobs.info(task.upload.upload_id)).not.toBeNull();
    expect(await drifts(bench)).toEqual([]);
  });

  it('ends what nothing drives any more, and what is live as COMPLETED', async () => {
    let late = 0;
    const bench = await activityBench(undefined, { now: () => new Date(Date.now() + late) });
    const live = await publishedAndNotEnded(bench);
    const task = await bench.admit('other', 'other text');
    for (const { task_id } of [live, task]) await bench.tasks.markHandedOver(task_id);
    // Admitted two hours ago, but handed over just now: it has its hour yet.
    expect(await bench.sweep.endExpired()).toBe(0);
    late = 7_200_000;
    expect(await bench.sweep.endExpired()).toBe(2);
    expect(await bench.tasks.get(task.task_id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'TASK_EXPIRED' },
    });
    expect(await bench.tasks.get(live.task_id)).toMatchObject({ state: 'COMPLETED', error: null });
  });

  it('removes chunks that no record knows, and no others', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await index(bench, task);
    const [chunk] = await wholeChunks(bench.chunks, task.file_key, task.generation);
    const stray = { ...chunk!, chunk_id: 'stray', file_key: 'nobody' };
    await bench.chunks.put(
      [{ chunk: stray, vector: new Array<number>(1024).fill(1) }],
      'vector_builtin_hash',
    );
    const { result } = inActivity(() => bench.sweep.removeOrphans());
    expect(await result).toMatchObject({ chunks: 1 });
    expect(await bench.chunks.listByFile(task.file_key, task.generation)).toHaveLength(3);
  });
});

describe('the claim of a version whose task is not kept any more', () => {
  /** Whether another file may have these bytes. */
  const isFree = async ({ claims }: ActivityBench, { upload }: TaskRecord) =>
    (await claims.claim({
      partition: 'library',
      digest: upload.content_sha256,
      fileKey: 'key-of-another',
      fileId: 'another',
      taskId: 'another-task',
    })) === null;
  /** The second version of a file, whose first one has lost the record of its task. */
  const replaced = async () => {
    const bench = await activityBench();
    const first = await bench.admit('guide', 'text');
    await index(bench, first);
    await bench.documents.cleanFile(first.file_key);
    await bench.tasks.remove(first.task_id);
    expect(await isFree(bench, first)).toBe(false);
    const second = await bench.admit('guide', 'another text');
    await index(bench, second);
    return { bench, first, second };
  };

  it('ends when the version is replaced', async () => {
    const { bench, first, second } = await replaced();
    await bench.documents.cleanFile(first.file_key);
    expect(await drifts(bench)).toEqual([]);
    expect(await isFree(bench, first)).toBe(true);
    expect(await isFree(bench, second)).toBe(false);
  });

  it('ends by the reconciler too, which leaves those of live versions and of admissions alone', async () => {
    const { bench, first, second } = await replaced();
    const waiting = await bench.admit('waiting', 'a third text');
    const kept = await bench.admit('kept', 'a fourth text');
    await index(bench, kept);
    await bench.tasks.remove(kept.task_id);
    await bench.claims.claim({
      partition: 'library',
      digest: 'of nothing',
      fileKey: 'no-file',
      fileId: 'gone',
      taskId: 'no-task',
    });
    await inActivity(() => bench.sweep.removeOrphans()).result;
    const holders: string[] = [];
    for await (const claim of bench.claims.scan()) holders.push(...claim.holders);
    expect(holders.sort()).toEqual([second.task_id, waiting.task_id, kept.task_id].sort());
    expect(await isFree(bench, first)).toBe(true);
  });
});

describe('the reconciler of another record store', () => {
  /** One that finds the chunks of `bench` and none of its records, as after a change of COMPOSE_PROFILES. */
  const other = async (bench: ActivityBench) => {
    const stores = createFakeStores();
    const settings = { graceMs: -1, timeoutMs: 3_600_000, orphanGraceMs: 0, runningPerUser: 100 };
    return createSweepActivities({
      adapters: { ...stores, chunks: bench.chunks },
      plans: { stateOf: async () => 'open' },
      settings,
    });
  };

  it('leaves the chunks of the first one alone, and says so', async () => {
    const bench = await activityBench();
    const task = await bench.admit('guide', 'text');
    await index(bench, task);
    const own = await bench.recordStore.id();
    expect(await bench.chunks.ownerOf(own)).toBe(own);
    const { removeOrphans } = await other(bench);
    const { result } = inActivity(() => removeOrphans());
    expect(await result).toEqual({ chunks: 0, blobs: 0, chunks_kept: expect.stringContaining(own) });
    expect(await bench.chunks.listByFile(task.file_key, task.generation)).toHaveLength(3);
    const again = inActivity(() => bench.sweep.removeOrphans());
    expect(await again.result).toEqual({ chunks: 0, blobs: 0 });
  });
});

describe("the partition's preset", () => {
  it('says how a document is cut', async () => {
    const asked: unknown[] = [];
    const parser = scriptedParser(['one']);
    const bench = await activityBench({
      ...parser,
      parseAndChunk: (request) => {
        asked.push(request.chunking);
        return parser.parseAndChunk(request);
      },
    });
    for (const preset of seededPresets(parseConfig({}))) await bench.presets.seed(preset);
    const parse = async (fileId: string) =>
      inActivity(async () => bench.documents.parseDocument(refOf(await bench.admit(fileId, fileId)))).result;
    await parse('a');
    await bench.partitions.update('library', { indexation_preset: 'legal' });
    await parse('b');
    // One that is gone leaves the service's own settings.
    await bench.partitions.update('library', { indexation_preset: 'gone' });
    await parse('c');
    const legal = await bench.presets.get('indexation', 'legal');
    const chunking = { name: 'structured_section', chunk_size: 64, chunk_overlap_rate: 0 };
    await bench.presets.create({ ...legal!, name: 'mine', config: { ...legal!.config, chunking } });
    await bench.partitions.update('library', { indexation_preset: 'mine' });
    await parse('d');
    expect(asked).toEqual([
      { chunkSize: 512, overlapRate: 0.2, strategy: 'recursive_splitter' },
      { chunkSize: 1024, overlapRate: 0.25, strategy: 'recursive_splitter' },
      { chunkSize: 512, overlapRate: 0.2, strategy: 'recursive_splitter' },
      { chunkSize: 64, overlapRate: 0, strategy: 'structured_section' },
    ]);
  });

  it('says which languages OCR reads, and otherwise the server does', async () => {
    const limits: unknown[] = [];
    const parser = scriptedParser(['one']);
    const bench = await activityBench({
      ...parser,
      parseAndChunk: (request) => {
        limits.push(request.limits);
        return parser.parseAndChunk(request);
      },
    });
    for (const preset of seededPresets(parseConfig({}))) await bench.presets.seed(preset);
    const legal = await bench.presets.get('indexation', 'legal');
    const config = { ...legal!.config, ocr_languages: 'deu+eng' };
    await bench.presets.create({ ...legal!, name: 'mine', config });
    for (const name of ['legal', 'mine']) {
      await bench.partitions.update('library', { indexation_preset: name });
      const task = await bench.admit(name, name);
      await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    }
    expect(limits).toEqual([undefined, { ocrLanguages: ['deu', 'eng'] }]);
  });
});

describe('without kept uploads', () => {
  it('removes the bytes once they are indexed, of a replacement too, and nothing else', async () => {
    const bench = await activityBench(undefined, { keepUploads: false });
    const blobsOf = async (task: TaskRecord) =>
      (await bench.blobs.listByFile(task.file_key)).map(({ blobId }) => blobId);
    const check = () => checkStores(bench, { deduplicate: true, keepUploads: false });
    const first = await bench.admit('guide', 'text');
    await index(bench, first);
    expect(await blobsOf(first)).toEqual([]);
    const second = await bench.admit('guide', 'another text');
    expect(await blobsOf(second)).toContain(second.upload.upload_id);
    await bench.documents.cleanFile(second.file_key);
    expect(await blobsOf(second)).toContain(second.upload.upload_id);
    await index(bench, second);
    await bench.documents.cleanFile(second.file_key);
    expect(await blobsOf(second)).toEqual([]);
    expect(await check()).toEqual([]);
  });
});
