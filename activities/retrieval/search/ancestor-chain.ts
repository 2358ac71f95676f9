import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { FileStore } from '../../ports/files.js';

interface Reach {
  /** Steps above the file at most. */
  most: number;
  signal?: AbortSignal | undefined;
}

/**
 * The file and those above it along the parent ids, the file first; a chain that bites its tail ends there. Only files
 * that carry a relationship id take part (wire contract, section 1.5).
 */
export async function* walkAncestors(
  files: Pick<FileStore, 'get'>,
  file: FileRecord,
  { most, signal }: Reach,
): AsyncGenerator<FileRecord, void, undefined> {
  yield file;
  const seen = new Set([file.file_id]);
  let child = file;
  while (seen.size <= most) {
    const parentId = child.live?.parent_id ?? null;
    if (parentId === null || child.live?.relationship_id == null || seen.has(parentId)) return;
    signal?.throwIfAborted();
    const parent = await files.get(file.partition, parentId);
    if (parent?.live?.relationship_id == null) return;
    yield parent;
    seen.add(parentId);
    child = parent;
  }
}

/** The same as a list. */
export async function ancestorChain(
  files: Pick<FileStore, 'get'>,
  file: FileRecord,
  reach: Reach,
): Promise<FileRecord[]> {
  const chain: FileRecord[] = [];
  for await (const link of walkAncestors(files, file, reach)) chain.push(link);
  return chain;
}
