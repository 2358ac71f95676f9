import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { FileStore } from '../../../activities/ports/files.js';

/** A record holds up to 64 KiB of metadata: a page of them is some 30 MB at the most. */
export const FILES_A_PAGE = 500;

/** Live files of a partition by id, some at a time: a partition may have more than a process could hold. */
export async function* livePages(
  files: Pick<FileStore, 'listLive'>,
  scope: Scope,
  partition: string,
  {
    limit = Infinity,
    after,
    degradedStage,
  }: { limit?: number | undefined; after?: string | undefined; degradedStage?: string | undefined } = {},
): AsyncGenerator<FileRecord[], void, undefined> {
  let left = limit;
  let last = after;
  while (left > 0) {
    const wanted = Math.min(left, FILES_A_PAGE);
    const page = await files.listLive(scope, partition, { limit: wanted, after: last, degradedStage });
    if (page.length > 0) yield page;
    if (page.length < wanted) return;
    left -= page.length;
    last = page.at(-1)!.file_id;
  }
}
