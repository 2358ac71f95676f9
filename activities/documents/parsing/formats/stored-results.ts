import type { Entry, ZipFile } from 'yauzl';
import { openFileBytes } from '../random-access-bytes.js';
import { openZip, readZipText, walkZipEntries } from '../zip-directory.js';

/** Of a sheet that is read as a whole here, in memory; of longer ones nothing is said. */
const MAX_SHEET_BYTES = 16 * 1024 * 1024;

/** A cell with a formula and an empty value. A text may be empty all the same. */
const NO_RESULT = /<c((?:\s[^<>]*)?)><f(?:\s[^<>]*)?(?:\/>|>[^<]*<\/f>)(?:<v\s?\/>|<v><\/v>)?<\/c>/g;

/** Whether formulas of a workbook (XLSX) have no result beside them: programs that only write need not count it. */
export async function lacksResults(path: string): Promise<boolean> {
  const file = await openFileBytes(path);
  try {
    const zip = await openZip(file);
    try {
      for (const sheet of await sheetsOf(zip))
        if (holdsNoResult(await readZipText(zip, sheet, MAX_SHEET_BYTES))) return true;
      return false;
    } finally {
      zip.close();
    }
  } finally {
    await file.close();
  }
}

async function sheetsOf(zip: ZipFile): Promise<Entry[]> {
  const sheets: Entry[] = [];
  await walkZipEntries(zip, (entry) => {
    const isSheet = /\/worksheets\/[^/]+\.xml$/i.test(entry.fileName);
    if (isSheet && entry.uncompressedSize <= MAX_SHEET_BYTES) sheets.push(entry);
    return true;
  });
  return sheets;
}

function holdsNoResult(sheet: string): boolean {
  for (const [, attributes] of sheet.matchAll(NO_RESULT))
    if (!/\st\s?=\s?["']str["']/.test(attributes!)) return true;
  return false;
}
