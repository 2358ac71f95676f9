import { describe, expect, it } from '@jest/globals';
import { isoDate, readClientMetadata } from '../../../../activities/documents/commands/client-metadata.js';
import { safeFilename } from '../../../../activities/documents/commands/safe-filename.js';

describe('isoDate', () => {
  it.each([
    ['2024-01-02', '2024-01-02T00:00:00.000Z'],
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02T03:04:05.5', '2024-01-02T03:04:05.500Z'],
    ['2024-01-02 03:04', '2024-01-02T03:04:00.000Z'],
    ['2024-01-02T03:04:05+0130', '2024-01-02T01:34:05.000Z'],
    ['2024-01-02T03:04:05 -05', '2024-01-02T08:04:05.000Z'],
    ['Tue, 2 Jan 2024 03:04:05 +0000', '2024-01-02T03:04:05.000Z'],
    [1704164645, '2024-01-02T03:04:05.000Z'],
    [1704164645000, '2024-01-02T03:04:05.000Z'],
    ['2024-13-02', null],
    ['foo 1', null],
    ['', null],
    [true, null],
    [1e20, null],
  ])('%s', (value, expected) => {
    expect(isoDate(value)).toBe(expected);
  });
});

describe('safeFilename', () => {
  it.each([
    ['notes.txt', 'notes.txt'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\Rapport final.docx', 'Rapport final.docx'],
    ['a"b\r\nX: y.txt', 'a_bX_ y.txt'],
    ['e\u0301te\u0301.pdf', 'été.pdf'],
    ['\u202Efdp.exe', 'fdp.exe'],
    ['  spaced   name .md', 'spaced name .md'],
    ['資料.pdf', '資料.pdf'],
  ])('%j', (original, safe) => {
    expect(safeFilename(original)).toBe(safe);
  });

  it('keeps the extension of a long name, within 255 bytes', () => {
    const name = safeFilename(`${'é'.repeat(300)}.docx`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(name).toMatch(/^é+\.docx$/);
  });

  it.each([
    ['dots', '.'],
    ['blanks', ' '],
    ['blanks and dots', ' .'],
    ['separators', '/'],
    ['marks above', '\u0301'],
  ])('reads a name of millions of %s at once', (_what, unit) => {
    const long = unit.repeat(8_000_000);
    const before = process.cpuUsage().user;
    for (const name of [`a${long}b.txt`, `${long}b.txt`, `a.txt${long}/b.txt`])
      expect(Buffer.byteLength(safeFilename(name))).toBeLessThanOrEqual(255);
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(1_000);
  });

  it('refuses a name of which nothing is left', () => {
    for (const name of ['', '..', ' . ', '\u0000'])
      expect(() => safeFilename(name)).toThrow('Invalid file name');
  });
});

describe('readClientMetadata', () => {
  it('keeps unicode keys, deep objects and empty lists', () => {
    const text = '{"clé":{"b":[{"c":[]},null,true,0.5]},"":1,"a.b":"$x"}';
    expect(readClientMetadata(text, []).metadata).toEqual(JSON.parse(text));
  });

  it('takes absent and empty as an empty object', () => {
    for (const text of [undefined, '', ' ']) expect(readClientMetadata(text, []).metadata).toEqual({});
  });

  it('cannot be talked into a prototype', () => {
    const { metadata } = readClientMetadata('{"__proto__":{"isAdmin":true},"a":1}', []);
    expect((metadata as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it('makes bigints of integers beyond a double only', () => {
    const { metadata } = readClientMetadata('{"a":9007199254740991,"b":9007199254740992,"c":-1}', []);
    expect(metadata).toEqual({ a: 9007199254740991, b: 9007199254740992n, c: -1 });
  });
});
