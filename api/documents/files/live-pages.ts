import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { FileStore } from '../../../activities/ports/files.js';
import { jsonList } from '../../http/route.js';
import type { Answer } from '../../http/route.js';

/** A record holds up to 64 KiB of metadata: a page of them is some 30 MB at the most. */
const FILES_A_PAGE = 500;

type Pages = AsyncGenerator<FileRecord[], void, undefined>;

/** Pages of files by id, of a reader that gives so many of those behind one. */
async function* pagesOf(
  read: (limit: number, after: string | undefined) => Promise<FileRecord[]>,
  { limit = Infinity, after }: { limit?: number | undefined; after?: string | undefined } = {},
): Pages {
  let left = limit;
  let last = after;
  while (left > 0) {
    const wanted = Math.min(left, FILES_A_PAGE);
    const page = await read(wanted, last);
    if (page.length > 0) yield page;
    if (page.length < wanted) return;
    left -= page.length;
    last = page.at(-1)!.file_id;
  }
}

/** Live files of a partition by id, some at a time: a partition may have more than a process could hold. */
export function livePages(
  files: Pick<FileStore, 'listLive'>,
  scope: Scope,
  partition: string,
  {
    degradedStage,
    ...range
  }: { limit?: number | undefined; after?: string | undefined; degradedStage?: string | undefined } = {},
): Pages {
  return pagesOf((limit, after) => files.listLive(scope, partition, { limit, after, degradedStage }), range);
}

/** Likewise those that share a relationship id, which may be all of them. */
export function relatedPages(
  files: Pick<FileStore, 'listRelated'>,
  scope: Scope,
  partition: string,
  relationshipId: string,
): Pages {
  return pagesOf((limit, after) => files.listRelated(scope, partition, relationshipId, { limit, after }));
}

/** `{"files": [rows]}`, written while the pages are read. */
export function filesAnswer(pages: Pages, row: (file: FileRecord) => unknown): Answer {
  return jsonList('files', rowsOf(pages, row));
}

async function* rowsOf(pages: Pages, row: (file: FileRecord) => unknown) {
  for await (const page of pages) yield* page.map(row);
}
