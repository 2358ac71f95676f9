import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { MongoClient } from 'mongodb';
import { restoreSlice } from '../../activities/backups/restore-backup.js';
import type { RestorePosition } from '../../activities/backups/restore-backup.js';
import { backupSlice } from '../../activities/backups/write-backup.js';
import type { BackupPosition } from '../../activities/backups/write-backup.js';
import { embeddedText } from '../../activities/documents/embedded-text.js';
import { connectWorker } from '../../activities/connect.js';
import type { WorkerAdapters } from '../../activities/ports/adapters.js';
import type { BackupStorage } from '../../activities/ports/backups.js';
import { parseConfig } from '../../schemas/config/config.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { sampleChunk, sampleTask, sampleVersion } from '../contracts/samples.js';
import { dropRun } from './drop-run.js';

const EMBEDDER = 'builtin-hash';
const HEADINGS = ['Guide'];

/** Stores of their own on the real engines, as a worker has them, and a storage for backups. */
export async function openBackupStage({
  storage,
  secretsKey,
  formerKey,
}: {
  storage: BackupStorage;
  secretsKey: string;
  formerKey?: string;
}) {
  const run = `backup-${randomBytes(5).toString('hex')}`;
  const config = parseConfig({
    TAMIS_ENV_FILE: devNull,
    MONGODB_URL: process.env['MONGODB_URL'],
    OPENSEARCH_URL: process.env['OPENSEARCH_URL'],
    MONGODB_DATABASE: `tamis-${run}`,
    OPENSEARCH_INDEX_PREFIX: `tamis-${run}-`,
    SECRETS_KEY: secretsKey,
    SECRETS_KEY_PREVIOUS: formerKey,
  });
  const connected: WorkerAdapters = await connectWorker(config);
  const adapters = connected.documents!;
  const { alerts, watchers, statistics } = connected.proxy!;
  await adapters.users.ensureAdmin(sha256Hex('the token of this stack'));
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'tamis-backup-test-'));
  const source = { ...adapters, ...adapters.backups, storage, scratchDirectory };
  const { vectorField } = await adapters.models.embedder(EMBEDDER);

  const control = () => ({
    signal: new AbortController().signal,
    isOver: () => true,
    reached: () => undefined,
  });

  return {
    config,
    adapters,
    alerts,
    watchers,
    statistics,

    /** A live file with its bytes and a chunk for each text. */
    async addFile(
      partition: { partition: string; partition_key: string },
      fileId: string,
      texts: readonly string[],
      {
        bytes = Buffer.from(texts.join('\n')),
        fileKey = randomUUID(),
        userId = 1,
        context = null,
      }: { bytes?: Buffer; fileKey?: string; userId?: number; context?: string | null } = {},
    ): Promise<{ fileKey: string; generation: number }> {
      const generation = await adapters.counters.nextGeneration();
      const taskId = randomUUID();
      const upload = {
        upload_id: randomUUID() as string,
        filename: `${fileId}.txt`,
        original_filename: `${fileId}.txt`,
        mimetype: 'text/plain',
        size_bytes: bytes.length,
        content_sha256: sha256Hex(bytes),
      };
      await adapters.blobs.write(
        { blobId: upload.upload_id, kind: 'upload', fileKey, generation, taskId },
        Readable.from([bytes], { objectMode: false }),
      );
      const present = await adapters.files.get(partition.partition, fileId);
      if (present === null)
        await adapters.files.admitFirst({
          fileKey,
          partition: partition.partition,
          partitionKey: partition.partition_key,
          fileId,
          userId,
          taskId,
          generation,
        });
      else await adapters.files.admitReplacement({ fileKey, taskId, generation });
      await adapters.tasks.insert(
        sampleTask({
          task_id: taskId,
          partition: partition.partition,
          file_id: fileId,
          file_key: fileKey,
          generation,
          upload,
          embedder: EMBEDDER,
        }),
      );
      await adapters.claims.claim({
        partition: partition.partition,
        digest: upload.content_sha256,
        fileKey,
        fileId,
        taskId,
      });
      const embedder = await adapters.models.embedder(EMBEDDER);
      const vectors = await embedder.embed(
        texts.map((text) => embeddedText({ headingPath: HEADINGS, text }, context)),
        { kind: 'document', signal: new AbortController().signal },
      );
      await adapters.chunks.put(
        texts.map((text, position) => ({
          chunk: sampleChunk({
            partition: partition.partition,
            file_id: fileId,
            file_key: fileKey,
            generation,
            position,
            text,
            heading_path: HEADINGS,
            filename: upload.filename,
          }),
          vector: vectors[position]!,
          context,
        })),
        vectorField,
      );
      await adapters.chunks.publish({ partition: partition.partition, fileKey, generation }, texts.length);
      await adapters.files.publish(
        fileKey,
        taskId,
        sampleVersion({
          ...upload,
          generation,
          task_id: taskId,
          chunk_count: texts.length,
          embedder: EMBEDDER,
        }),
      );
      await adapters.tasks.finish(taskId, 'COMPLETED');
      return { fileKey, generation };
    },

    /** What a file holds: the bytes of its upload, its texts and how many of them have a vector. */
    async contentOf(partition: string, fileId: string) {
      const file = await adapters.files.get(partition, fileId);
      if (file?.live == null) return null;
      const { upload_id: uploadId, generation } = file.live;
      const bytes: Buffer[] = [];
      for await (const part of await adapters.blobs.read(uploadId)) bytes.push(part as Buffer);
      await adapters.chunks.show();
      const chunks = await adapters.chunks.listByFile(file.file_key, generation);
      const vectors = await adapters.chunks.getVectors(
        chunks.map(({ chunk_id }) => chunk_id),
        vectorField,
      );
      return {
        bytes: Buffer.concat(bytes),
        texts: chunks.map(({ text }) => text),
        published: chunks.every(({ published }) => published),
        vectors: vectors.size,
        generation,
        file,
      };
    },

    async search(partition: string, text: string) {
      const embedder = await adapters.models.embedder(EMBEDDER);
      const [vector] = await embedder.embed([text], { kind: 'query', signal: new AbortController().signal });
      const found = await adapters.chunks.searchHybrid({
        scope: { kind: 'all', userId: 1 },
        partitions: [partition],
        text,
        vector: vector!,
        vectorField,
        size: 20,
      });
      const short = (hits: (typeof found)['dense']) =>
        hits.map(({ chunk, score }) => [chunk.chunk_id, score] as const);
      return { lexical: short(found.lexical), dense: short(found.dense) };
    },

    /** A whole backup, slice by slice; `between` is called after each, and may tell it to begin the slice again. */
    async backup(
      backupId: string,
      {
        vectors = true,
        between,
      }: { vectors?: boolean; between?(position: BackupPosition): Promise<void> } = {},
    ): Promise<BackupPosition> {
      const order = { runId: `run of ${backupId}`, backupId, vectors };
      for (let position: BackupPosition | null = null; ;) {
        position = JSON.parse(
          JSON.stringify(await backupSlice(source, order, position, control())),
        ) as BackupPosition;
        if (position.phase === 'done') return position;
        await between?.(position);
      }
    },

    async restore(
      backupId: string,
      {
        replace = false,
        between,
      }: {
        replace?: boolean;
        /** The answer is where the next slice begins: an earlier position, as after a crash. */
        between?(position: RestorePosition): Promise<RestorePosition>;
      } = {},
    ): Promise<RestorePosition> {
      for (let position: RestorePosition | null = null; ;) {
        position = JSON.parse(
          JSON.stringify(await restoreSlice(source, { backupId, replace }, position, control())),
        ) as RestorePosition;
        if (position.phase === 'done') return position;
        if (between !== undefined) position = await between(position);
      }
    },

    /** What a restore has on disk. */
    scratchFiles: () => readdir(scratchDirectory),

    /** The collections that there are. */
    async collections(): Promise<string[]> {
      const client = new MongoClient(config.mongodb.url);
      try {
        const listed = await client
          .db(config.mongodb.database)
          .listCollections({}, { nameOnly: true })
          .toArray();
        return listed.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
      } finally {
        await client.close();
      }
    },

    source,
    async close() {
      await connected.close();
      await dropRun(config);
    },
  };
}

export type BackupStage = Awaited<ReturnType<typeof openBackupStage>>;
