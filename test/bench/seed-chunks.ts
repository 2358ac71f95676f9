import { randomUUID } from 'node:crypto';
import { toVersionEntries } from '../../activities/documents/metadata-entries.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { StoredChunk } from '../../schemas/documents/documents.js';
import type { RunningStack } from '../support/running-stack.js';
import { cranfield, piaf } from './collection.js';

export const CHUNKS_PER_FILE = 100;
const WORDS_PER_CHUNK = 60;

/** Texts of the two collections, put together anew each time round so that none is there twice. */
export function* benchTexts(): Generator<string> {
  const words = [...cranfield().documents, ...piaf().documents].flatMap(({ content }) =>
    content.split(/\s+/),
  );
  for (let stride = 1; ; stride += 2)
    for (let at = 0; at < words.length; at += WORDS_PER_CHUNK)
      yield Array.from(
        { length: WORDS_PER_CHUNK },
        (_, index) => words[(at + index * stride) % words.length],
      ).join(' ');
}

/** The chunks of one file of `CHUNKS_PER_FILE`. */
export function fileChunks(
  text: Iterator<string>,
  file: Pick<StoredChunk, 'partition' | 'file_id' | 'file_key' | 'generation' | 'filename' | 'metadata'>,
): StoredChunk[] {
  return Array.from({ length: CHUNKS_PER_FILE }, (_, position) => ({
    ...file,
    chunk_id: chunkId(file.file_key, file.generation, position),
    position,
    published: false,
    text: text.next().value as string,
    heading_path: [],
    page: null,
    chunk_type: 'text',
    section_id: position,
    prev_section_id: position === 0 ? null : position - 1,
    next_section_id: position + 1 < CHUNKS_PER_FILE ? position + 1 : null,
    relationship_id: null,
    parent_id: null,
  }));
}

/**
 * Puts chunks of live files straight into the stores, in files of 100: a search meets what uploads would have made of
 * them, without the hours.
 */
export async function seedChunks(
  stack: RunningStack,
  options: { partition: string; embedderName: string; chunks: number; embed: (text: string) => number[] },
): Promise<void> {
  const { adapters } = stack;
  const { partition, embedderName } = options;
  const embedder = await adapters.models.embedder(embedderName);
  await adapters.chunks.ensureSchema([embedder]);
  const text = benchTexts();
  const partitionKey = (await adapters.partitions.get(partition))!.partition_key;
  const publishing: Promise<void>[] = [];
  for (let file = 0; file * CHUNKS_PER_FILE < options.chunks; file += 1) {
    const fileKey = randomUUID().replaceAll('-', '');
    const generation = await adapters.counters.nextGeneration();
    const taskId = randomUUID();
    const fileId = `file-${file}`;
    const upload = {
      upload_id: taskId,
      filename: `${fileId}.txt`,
      original_filename: `${fileId}.txt`,
      mimetype: 'text/plain',
      size_bytes: 0,
      content_sha256: randomUUID().replaceAll('-', '').padEnd(64, '0'),
    };
    await adapters.files.admitFirst({
      fileKey,
      partition,
      partitionKey,
      fileId,
      userId: 1,
      taskId,
      generation,
    });
    const version = { ...upload, metadata: { shelf: `shelf-${file % 10}` }, indexed_at: new Date() };
    const chunks = fileChunks(text, {
      partition,
      file_id: fileId,
      file_key: fileKey,
      generation,
      filename: upload.filename,
      metadata: toVersionEntries(version),
    });
    await adapters.chunks.put(
      chunks.map((chunk) => ({ chunk, vector: options.embed(chunk.text) })),
      embedder.vectorField,
    );
    publishing.push(adapters.chunks.publish({ partition, fileKey, generation }, CHUNKS_PER_FILE));
    // Each waits for a refresh: a few at a time.
    if (publishing.length >= 20) await Promise.all(publishing.splice(0));
    await adapters.files.publish(fileKey, taskId, {
      ...version,
      generation,
      task_id: taskId,
      relationship_id: null,
      parent_id: null,
      chunk_count: CHUNKS_PER_FILE,
      embedder: embedderName,
      degraded_stages: [],
    });
  }
  await Promise.all(publishing);
}
