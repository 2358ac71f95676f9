import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { utils, write } from '@e965/xlsx';
import { startTestParser } from '../../../../support/documents/parse-file.js';
import type { TestParser } from '../../../../support/documents/parse-file.js';

let parser: TestParser;
beforeAll(async () => {
  // A reader that waits for a part that is not where it should be would end with PARSE_TIMEOUT.
  parser = await startTestParser({ timeoutMs: 20_000 });
});
afterAll(() => parser.close());

function workbook(): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet([
      ['grain', 'price'],
      ['rye', 7],
    ]),
    'Prices',
  );
  return write(book, { bookType: 'xlsx', type: 'buffer', compression: true }) as Buffer;
}

const END = Buffer.from('PK\x05\x06', 'latin1');
const ENTRY = Buffer.from('PK\x01\x02', 'latin1');
/** Where the fields of an entry of the directory, and of its end, are (APPNOTE.TXT 4.3.12, 4.3.16). */
const AT = { packed: 20, size: 24, nameLength: 28, offset: 42, name: 46 } as const;
const END_AT = { entriesHere: 8, entries: 10, length: 12, offset: 16 } as const;

/** The parts of an archive: what lies before its directory, its entries, and its end. */
function takeApart(archive: Buffer): { parts: Buffer; entries: Buffer[]; end: Buffer } {
  const endAt = archive.lastIndexOf(END);
  const from = archive.readUInt32LE(endAt + END_AT.offset);
  const entries: Buffer[] = [];
  for (let at = from; at < endAt;) {
    const next = archive.indexOf(ENTRY, at + ENTRY.length);
    const entryEnd = next === -1 ? endAt : next;
    entries.push(Buffer.from(archive.subarray(at, entryEnd)));
    at = entryEnd;
  }
  return { parts: archive.subarray(0, from), entries, end: Buffer.from(archive.subarray(endAt)) };
}

function putTogether({ parts, entries, end }: ReturnType<typeof takeApart>): Buffer {
  const directory = Buffer.concat(entries);
  const closing = Buffer.from(end);
  closing.writeUInt16LE(entries.length, END_AT.entriesHere);
  closing.writeUInt16LE(entries.length, END_AT.entries);
  closing.writeUInt32LE(directory.length, END_AT.length);
  closing.writeUInt32LE(parts.length, END_AT.offset);
  return Buffer.concat([parts, directory, closing]);
}

function nameOf(entry: Buffer): string {
  return entry.toString('utf8', AT.name, AT.name + entry.readUInt16LE(AT.nameLength));
}

/** The same number in each entry of the directory. */
function withNumber(at: number, value: number): Buffer {
  return withEntries((entry) => {
    entry.writeUInt32LE(value, at);
    return [entry];
  });
}

/** The workbook with each entry of its directory changed. */
function withEntries(change: (entry: Buffer) => Buffer[]): Buffer {
  const { parts, entries, end } = takeApart(workbook());
  return putTogether({ parts, end, entries: entries.flatMap((entry) => change(Buffer.from(entry))) });
}

/** Bytes that are no part, between the first part and the second. */
const BETWEEN = Buffer.alloc(5000, 'PK between two parts ');

function withBytesBetween({ known }: { known: boolean }): Buffer {
  const { parts, entries, end } = takeApart(workbook());
  const second = Math.min(...entries.map((entry) => entry.readUInt32LE(AT.offset)).filter((at) => at > 0));
  for (const entry of entries) {
    const offset = entry.readUInt32LE(AT.offset);
    if (known && offset >= second) entry.writeUInt32LE(offset + BETWEEN.length, AT.offset);
  }
  const moved = Buffer.concat([parts.subarray(0, second), BETWEEN, parts.subarray(second)]);
  return putTogether({ parts: moved, entries, end });
}

describe('the directory of a workbook’s archive', () => {
  it.each([
    ['says where its parts are, whatever lies between them', () => withBytesBetween({ known: true })],
    [
      'may name its parts in any order',
      () => {
        const { parts, entries, end } = takeApart(workbook());
        return putTogether({ parts, entries: entries.toReversed(), end });
      },
    ],
  ])('%s', async (_what, bytes) => {
    expect((await parser.parse('xlsx', bytes())).text).toMatch(/\| rye +\| 7 +\|/);
  });

  it.each<[string, () => Buffer]>([
    ['does not know of bytes between its parts', () => withBytesBetween({ known: false })],
    ['is missing', () => takeApart(workbook()).parts],
    ['is cut off', () => Buffer.concat([takeApart(workbook()).parts, takeApart(workbook()).end])],
    ['names one place for all parts', () => withNumber(AT.offset, 0)],
    ['names places behind the end', () => withNumber(AT.offset, 0x7fffffff)],
    [
      'leaves the sheet out',
      () => withEntries((entry) => (nameOf(entry).startsWith('xl/worksheets/sheet') ? [] : [entry])),
    ],
    ['leaves all out', () => withEntries(() => [])],
    ['says that the parts are longer than the file', () => withNumber(AT.packed, 0x7fffffff)],
  ])('is damaged where it %s', async (_what, bytes) => {
    await expect(parser.parse('xlsx', bytes())).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it.each<[string, () => Buffer]>([
    ['declares less than its parts unpack to', () => withNumber(AT.size, 10)],
    [
      'names one part many thousand times',
      () => withEntries((entry) => Array.from({ length: 2000 }, () => entry)),
    ],
  ])('is a bomb where it %s', async (_what, bytes) => {
    await expect(parser.parse('xlsx', bytes())).rejects.toMatchObject({ code: 'FILE_TOO_COMPLEX' });
  });

  it('leaves the parser of use', async () => {
    expect((await parser.parse('xlsx', workbook())).text).toContain('rye');
    expect(await parser.leftovers()).toEqual([]);
  });
});
