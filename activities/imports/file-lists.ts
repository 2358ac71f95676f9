import { z } from 'zod';
import { AppError } from '../../schemas/app-error.js';
import { parseExact } from '../text/exact-json.js';
import type { SourceService } from '../ports/imports.js';

/** Metadata keys stand beside those of the server. */
const SourceFile = z.looseObject({
  file_id: z.string(),
  content_sha256: z
    .string()
    .nullish()
    .transform((text) => text ?? null),
});
export type SourceFile = z.infer<typeof SourceFile>;

/** A row of a list that is parsed when its turn comes: its metadata takes many times its bytes. */
export interface ListedFile {
  file_id: string;
  /** @throws AppError IMPORT_SOURCE_REFUSED for a row of another form than the contract's */
  row(): SourceFile;
}

export interface FilesPage {
  files: ListedFile[];
  /** No file is behind these. */
  isLast: boolean;
}

/** Rows that are held at a time, and asked for where the source gives pages. */
const PAGE_FILES = 1000;
/** No id that any service gives out is behind the last code point. */
const BEHIND_ALL = '\u{10ffff}';

/** By code points, in which MongoDB sorts; `<` goes by the units of UTF-16. */
function compareIds(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function notAsAgreed(path: string, where: string): AppError {
  return new AppError(
    'IMPORT_SOURCE_REFUSED',
    `The answer to ${path} is not as the contract has it: ${where}`,
  );
}

function readRow(path: string, json: Buffer): SourceFile {
  try {
    const parsed = SourceFile.safeParse(parseExact(json.toString('utf8')));
    if (parsed.success) return parsed.data;
    throw notAsAgreed(path, ['files', ...(parsed.error.issues[0]?.path ?? [])].map(String).join('.'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new AppError('IMPORT_SOURCE_REFUSED', `The answer to ${path} is no JSON.`);
  }
}

/** Of rows in any order and number, the first ones by id behind one. */
function firstBehind(path: string, after: string | null) {
  let kept: { file_id: string; json: Buffer }[] = [];
  let rows = 0;
  let isAllBehind = true;
  let isLast = true;
  const cut = (): void => {
    kept.sort((one, other) => compareIds(one.file_id, other.file_id));
    if (kept.length <= PAGE_FILES) return;
    kept = kept.slice(0, PAGE_FILES);
    isLast = false;
  };
  return {
    take(json: Buffer): void {
      rows += 1;
      const id = (JSON.parse(json.toString('utf8')) as { file_id?: unknown } | null)?.file_id;
      if (typeof id !== 'string') throw notAsAgreed(path, `files.${rows - 1}.file_id`);
      if (after !== null && compareIds(id, after) <= 0) {
        isAllBehind = false;
        return;
      }
      kept.push({ file_id: id, json });
      if (kept.length >= 2 * PAGE_FILES) cut();
    },
    end() {
      cut();
      const files = kept.map(({ file_id, json }) => ({ file_id, row: () => readRow(path, json) }));
      return { files, isLast, rows, isAllBehind };
    },
  };
}

/**
 * Reads the lists of files of a source. A Tamis gives pages (`limit` with `after`); a service that knows no `after`
 * gives all of a partition in one answer and in no certain order, which is read through for each page.
 */
export function createFileLists(service: SourceService) {
  /** Null: no list was long enough to tell yet. */
  let givesPages: boolean | null = null;

  const read = async (path: string, after: string | null) => {
    const list = firstBehind(path, after);
    return (await service.eachOf(path, 'files', list.take)) ? list.end() : null;
  };

  const asked = (path: string, limit: number, after: string | null): string =>
    `${path}?${new URLSearchParams({ limit: String(limit), ...(after !== null && { after }) }).toString()}`;

  /** Only one that knows no `after` has files behind all. */
  const knowsAfter = async (path: string): Promise<boolean> =>
    (await read(asked(path, 1, BEHIND_ALL), BEHIND_ALL))?.isAllBehind ?? false;

  /** The next page of the list at a path; null where the source answers 404. */
  return async (path: string, after: string | null): Promise<FilesPage | null> => {
    if (givesPages !== false) {
      const page = await read(asked(path, PAGE_FILES, after), after);
      // No more than there is room for in a page, or more than asked for: these are all, behind `after` or not.
      if (page === null || page.rows !== PAGE_FILES) return page;
      givesPages = page.isAllBehind && (givesPages ?? (await knowsAfter(path)));
      if (givesPages) return { ...page, isLast: false };
    }
    return read(path, after);
  };
}
