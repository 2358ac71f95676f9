import type { Entry, ZipFile } from 'yauzl';
import { readZipText, walkZipEntries, withZipFile } from '../zip-directory.js';

/** Of a part that is read as a whole here, in memory; of longer ones nothing is said. */
const MAX_PART_BYTES = 16 * 1024 * 1024;

/** A cell with a formula and an empty value. A text may be empty all the same. */
const NO_RESULT = /<c((?:\s[^<>]*)?)><f(?:\s[^<>]*)?(?:\/>|>[^<]*<\/f>)(?:<v\s?\/>|<v><\/v>)?<\/c>/g;

/** Sheets that Excel's own dialog lists, and those that it does not; rows and columns. */
const HIDDEN_IN_EXCEL =
  /<(?:\w+:)?(?:sheet\s[^<>]*state\s?=\s?["'](?:hidden|veryHidden)|(?:row|col)\s[^<>]*hidden\s?=\s?["'](?:1|true))["']/;
const HIDDEN_IN_OPEN_DOCUMENT =
  /<(?:table:table-(?:row|column)\s[^<>]*table:visibility\s?=\s?["'](?:collapse|filter)|style:table-properties\s[^<>]*table:display\s?=\s?["']false)["']/;

/** What the readers of workbooks do not say. */
export interface WorkbookTraits {
  /** Formulas have no result beside them: programs that only write need not count it. */
  lacksResults: boolean;
  /** Sheets, rows or columns are not shown. */
  hides: boolean;
}

export async function readWorkbookTraits(path: string, kind: 'xlsx' | 'ods'): Promise<WorkbookTraits> {
  const traits = { lacksResults: false, hides: false };
  const hidden = kind === 'xlsx' ? HIDDEN_IN_EXCEL : HIDDEN_IN_OPEN_DOCUMENT;
  await withZipFile(path, async (zip) => {
    for (const entry of await partsOf(zip)) {
      const part = await readZipText(zip, entry, MAX_PART_BYTES);
      traits.lacksResults ||= kind === 'xlsx' && holdsNoResult(part);
      traits.hides ||= hidden.test(part);
      if (traits.lacksResults && traits.hides) break;
    }
  });
  return traits;
}

async function partsOf(zip: ZipFile): Promise<Entry[]> {
  const parts: Entry[] = [];
  await walkZipEntries(zip, (entry) => {
    const holdsCells = /(?:\/worksheets\/[^/]+|(?:^|\/)(?:workbook|content))\.xml$/i.test(entry.fileName);
    if (holdsCells && entry.uncompressedSize <= MAX_PART_BYTES) parts.push(entry);
    return true;
  });
  return parts;
}

function holdsNoResult(sheet: string): boolean {
  for (const [, attributes] of sheet.matchAll(NO_RESULT))
    if (!/\st\s?=\s?["']str["']/.test(attributes!)) return true;
  return false;
}
