import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCopyActivities } from '../../activities/documents/copy-activities.js';
import { createDocumentActivities } from '../../activities/documents/document-activities.js';
import type { DocumentRef } from '../../activities/documents/task-ref.js';
import { createEmbeddingActivities } from '../../activities/documents/embedding-activities.js';
import { createIndexAtOnce } from '../../activities/documents/index-at-once.js';
import { createPublisher } from '../../activities/documents/publish-version.js';
import { BUILTIN_ENDPOINTS } from '../../activities/models/builtin/builtin-endpoints.js';
import { bundledPromptSource } from '../../activities/models/seeds/prompt-source.js';
import { createModelRegistry } from '../../activities/models/model-registry.js';
import type { ParserPool } from '../../activities/documents/parsing/parser-pool.js';
import { createSweepActivities } from '../../activities/documents/sweep-activities.js';
import type { IndexingPlans } from '../../activities/ports/tasks.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { sampleTask, sampleUpload } from '../contracts/samples.js';
import { createFakeStores } from './fakes/create-fake-stores.js';

type Models = ReturnType<typeof createModelRegistry>;

export type ActivityBench = Awaited<ReturnType<typeof activityBench>>;

/** A parser that writes the chunks it is told to, or fails as told. */
export function scriptedParser(
  texts: readonly string[] | Error,
  headingPath: readonly string[] = [],
): Pick<ParserPool, 'parseAndChunk'> {
  return {
    async parseAndChunk({ outputPath }) {
      if (texts instanceof Error) throw texts;
      const lines = texts.map((text, position) =>
        JSON.stringify({
          position,
          text,
          page: null,
          headingPath,
          chunkType: 'text',
          tokens: 3,
          sectionId: 0,
        }),
      );
      await writeFile(outputPath, lines.map((line) => `${line}\n`).join(''));
      return { chunkCount: texts.length, tokens: 0, characters: 0, pages: null, outputPath };
    },
  };
}

/** The activities over fakes, with one admitted upload of a file, in their mock context. */
export async function activityBench(
  parser: Pick<ParserPool, 'parseAndChunk'> = scriptedParser(['one', 'two', 'three']),
  {
    keepUploads = true,
    now = () => new Date(),
    wrapModels = (models) => models,
    defaultFileQuota = -1,
    plans = { stateOf: async () => 'open' },
  }: {
    keepUploads?: boolean;
    now?: () => Date;
    wrapModels?: (models: Models) => Models;
    defaultFileQuota?: number;
    plans?: IndexingPlans;
  } = {},
) {
  const stores = createFakeStores();
  for (const endpoint of BUILTIN_ENDPOINTS) {
    await stores.endpoints.seed(endpoint);
    await stores.endpoints.setDefaultIfUnset(endpoint.model_type, endpoint.name);
  }
  const models = wrapModels(createModelRegistry({ endpoints: stores.endpoints }));
  const adapters = { ...stores, models, promptSource: bundledPromptSource };
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'tamis-test-'));
  const { partition_key: partitionKey } = await stores.partitions.create({
    partition: 'library',
    embedder: 'builtin-hash',
    ownerId: 1,
  });

  const publish = createPublisher(adapters, { keepUploads });
  const documents = createDocumentActivities({
    adapters,
    parser,
    publish,
    indexAtOnce: createIndexAtOnce(adapters, publish),
    settings: {
      chunkSize: 512,
      chunkOverlapRate: 0.2,
      scratchDirectory,
      keepUploads,
      defaultFileQuota,
      ocrLanguages: [],
    },
  });
  const embedding = createEmbeddingActivities({ adapters, publish });
  const copying = createCopyActivities({ adapters, settings: { defaultFileQuota } });
  const sweep = createSweepActivities({
    adapters,
    plans,
    settings: {
      // What was done in this very millisecond is found too.
      graceMs: -1,
      timeoutMs: 3_600_000,
      orphanGraceMs: 0,
      runningPerUser: 100,
    },
    now,
  });

  /** A copy of a live file as the gateway admits it. */
  const admitCopy = async (fileId: string, source: TaskRecord): Promise<TaskRecord> => {
    const generation = await stores.counters.nextGeneration();
    const task = sampleTask({
      kind: 'copy',
      task_id: `copy-${generation}`,
      file_id: fileId,
      file_key: `key-of-${fileId}`,
      generation,
      embedder: 'builtin-hash',
      upload: { ...source.upload, upload_id: `copy-${generation}` },
      source: { file_key: source.file_key, generation: source.generation },
    });
    await stores.tasks.insert(task);
    await stores.files.admitFirst({
      fileKey: task.file_key,
      partition: 'library',
      partitionKey,
      fileId,
      userId: 1,
      taskId: task.task_id,
      generation,
    });
    return task;
  };

  /** As the gateway admits it: bytes, task, claim, file record. */
  const admit = async (
    fileId: string,
    text: string,
    uploaded: Partial<TaskRecord['upload']> = {},
    partition = 'library',
  ): Promise<TaskRecord> => {
    const present = await stores.files.get(partition, fileId);
    const place = await stores.partitions.get(partition);
    const generation = await stores.counters.nextGeneration();
    const fileKey =
      present?.file_key ??
      (partition === 'library' ? `key-of-${fileId}` : `key-of-${fileId}-in-${partition}`);
    const upload_id = `upload-${generation}`;
    const { size, sha256 } = await stores.blobs.write(
      { blobId: upload_id, kind: 'upload', fileKey, generation, taskId: upload_id },
      Readable.from([Buffer.from(text)]),
    );
    const task = sampleTask({
      task_id: upload_id,
      partition,
      file_id: fileId,
      file_key: fileKey,
      generation,
      embedder: 'builtin-hash',
      // Two hours ago: past the bench's time limit of one.
      created_at: new Date(Date.now() - 7_200_000),
      upload: sampleUpload({ ...uploaded, upload_id, size_bytes: size, content_sha256: sha256 }),
    });
    await stores.tasks.insert(task);
    const claim = { partition, digest: sha256, fileKey, fileId, taskId: task.task_id };
    await stores.claims.claim(claim);
    if (present === null || (present.live === null && present.pending_task === null))
      await stores.files.admitFirst({
        ...claim,
        partitionKey: place?.partition_key ?? partitionKey,
        userId: 1,
        generation,
      });
    else await stores.files.admitReplacement({ fileKey, taskId: task.task_id, generation });
    return task;
  };

  return { ...adapters, documents, embedding, copying, sweep, admit, admitCopy };
}

export function refOf(task: TaskRecord): DocumentRef {
  return {
    taskId: task.task_id,
    fileKey: task.file_key,
    generation: task.generation,
  };
}

/** Runs one activity as the worker would, with what a former attempt left in its heartbeat. */
export function inActivity<T>(
  run: () => Promise<T>,
  info: { attempt?: number; heartbeatDetails?: unknown } = {},
): { result: Promise<T>; beats: unknown[]; cancel(): void } {
  const environment = new MockActivityEnvironment(info);
  const beats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => beats.push(details));
  return { result: environment.run(run), beats, cancel: () => environment.cancel() };
}
