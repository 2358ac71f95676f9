import { settleChunks } from '../../../activities/documents/clean-up/settle-file.js';
import { toVersionEntries } from '../../../activities/documents/metadata-entries.js';
import { releaseQuota } from '../../../activities/documents/clean-up/release-quota.js';
import { chunkId } from '../../../schemas/documents/chunk-id.js';
import type { Gateway } from './start-gateway.js';

/** A multipart form with one file and text fields. */
export function uploadForm(
  content: string | Buffer = 'The reactor hums at 42 decibels.',
  { filename = 'notes.txt', ...fields }: { filename?: string } & Record<string, string> = {},
): FormData {
  const form = new FormData();
  form.set('file', new Blob([typeof content === 'string' ? content : new Uint8Array(content)]), filename);
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

export async function taskIdOf(response: Response): Promise<string> {
  const body = (await response.json()) as { task_status_url: string };
  return body.task_status_url.split('/').at(-1) ?? '';
}

/** What the worker would do with an admitted task: chunks, publication, COMPLETED. One chunk per line of text. */
export async function publishTask(
  { adapters }: Gateway,
  taskId: string,
  lines: string[],
  page: number | null = null,
): Promise<string[]> {
  const task = await adapters.tasks.get(taskId);
  if (task === null) throw new Error(`no task ${taskId}`);
  const embedder = await adapters.models.embedder(task.embedder);
  const vectors = await embedder.embed(lines, { kind: 'document' });
  const facts = { ...task.upload, metadata: task.metadata, indexed_at: new Date() };
  const chunks = lines.map((text, position) => ({
    chunk: {
      chunk_id: chunkId(task.file_key, task.generation, position),
      position,
      text,
      partition: task.partition,
      file_id: task.file_id,
      file_key: task.file_key,
      generation: task.generation,
      published: false,
      filename: task.upload.filename,
      heading_path: [],
      page,
      chunk_type: 'text' as const,
      section_id: 0,
      prev_section_id: null,
      next_section_id: null,
      relationship_id: task.relationship_id,
      parent_id: task.parent_id,
      metadata: toVersionEntries(facts),
    },
    vector: vectors[position] ?? [],
  }));
  await adapters.chunks.put(chunks, embedder.vectorField);
  await adapters.chunks.publish(
    { partition: task.partition, fileKey: task.file_key, generation: task.generation },
    lines.length,
  );
  const version = {
    ...facts,
    generation: task.generation,
    task_id: taskId,
    relationship_id: task.relationship_id,
    parent_id: task.parent_id,
    chunk_count: lines.length,
    embedder: task.embedder,
    degraded_stages: [],
  };
  await adapters.files.publish(task.file_key, taskId, version, task.partition);
  await settleChunks(adapters, task.file_key, [taskId]);
  await releaseQuota(adapters, { taskId, fileKey: task.file_key });
  await adapters.tasks.finish(taskId, 'COMPLETED');
  return chunks.map(({ chunk }) => chunk.chunk_id);
}

/** Uploads and publishes a text file; answers its chunk ids. */
export async function indexText(
  gateway: Gateway,
  where: { partition: string; fileId: string; token?: string; metadata?: string; method?: 'POST' | 'PUT' },
  lines: string[],
): Promise<string[]> {
  const response = await gateway.call(
    where.method ?? 'POST',
    `/indexer/partition/${where.partition}/file/${where.fileId}`,
    {
      body: uploadForm(lines.join('\n'), where.metadata === undefined ? {} : { metadata: where.metadata }),
      ...(where.token === undefined ? {} : { token: where.token }),
    },
  );
  if (response.status >= 300) throw new Error(`${response.status} ${await response.text()}`);
  return publishTask(gateway, await taskIdOf(response), lines);
}

/** Everything that an upload could leave in the stores. */
export async function leftovers({ adapters }: Gateway) {
  const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
    const list: T[] = [];
    for await (const item of items) list.push(item);
    return list;
  };
  return {
    blobs: (await collect(adapters.blobs.scan())).map(({ blobId }) => blobId),
    tasks: (await collect(adapters.tasks.scan())).map(({ task_id }) => task_id),
    claims: (await collect(adapters.claims.scan())).flatMap(({ holders }) => holders),
    pending: (await collect(adapters.files.scan())).flatMap(({ pending_task }) => pending_task ?? []),
  };
}

export const NOTHING = { blobs: [], tasks: [], claims: [], pending: [] };

/** Waits until a condition holds; fails after a time that a working service never needs. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 5000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
