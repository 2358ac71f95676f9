import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { FileStore } from '../../ports/files.js';

/**
 * The file and those above it along the parent ids, the file first; a chain that bites its tail ends there. Only files
 * that carry a relationship id take part (wire contract, section 1.5).
 * @param options.most steps above the file at most
 */
export async function ancestorChain(
  files: Pick<FileStore, 'get'>,
  file: FileRecord,
  options: { most: number; signal?: AbortSignal | undefined },
): Promise<FileRecord[]> {
  const chain = [file];
  const seen = new Set([file.file_id]);
  for (let child = file; chain.length <= options.most;) {
    const parentId = child.live?.parent_id ?? null;
    if (parentId === null || child.live?.relationship_id == null || seen.has(parentId)) break;
    options.signal?.throwIfAborted();
    const parent = await files.get(file.partition, parentId);
    if (parent?.live?.relationship_id == null) break;
    chain.push(parent);
    seen.add(parentId);
    child = parent;
  }
  return chain;
}
