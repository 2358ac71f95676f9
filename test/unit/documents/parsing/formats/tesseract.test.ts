import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { abilitiesOf } from '../../../../../activities/documents/parsing/abilities.js';
import { supportedTypes } from '../../../../../activities/documents/parsing/file-types.js';
import { withOrientationInFront } from '../../../../../activities/documents/parsing/ocr/orientation.js';
import { tesseractFor } from '../../../../../activities/documents/parsing/ocr/tesseract-program.js';
import { startTestParser } from '../../../../support/documents/parse-file.js';
import type { TestParser } from '../../../../support/documents/parse-file.js';
import { scanPng } from '../../../../support/documents/sample-scan.js';
import { ZOO } from '../../../../zoo/all-specimens.js';
import { until } from '../../../../support/until.js';

/** A word of the program's table: where it stands, how sure it is, what it is. */
function word(block: number, line: number, confidence: number, text: string): string {
  return ['5', '1', block, '1', line, '1', '0', '0', '9', '9', confidence, text].join('\t');
}

const TABLE = [
  'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext',
  '1\t1\t0\t0\t0\t0\t0\t0\t99\t99\t-1\t',
  word(1, 1, 90, 'Read'),
  word(1, 1, 80, 'by'),
  word(1, 2, 70, 'program'),
  word(2, 1, 60, 'Société'),
].join('\n');
const LIMITS = { ocrLanguages: ['eng'] };

const realPath = process.env['PATH'];
let directory: string;
let parser: TestParser;
let png: Buffer;
beforeAll(async () => {
  png = await scanPng([{ text: 'The quick sieve sorts barley', size: 24 }]);
}, 60_000);
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tamis-tesseract-'));
  parser = await startTestParser();
});
afterEach(async () => {
  process.env['PATH'] = realPath;
  await parser.close();
  await rm(directory, { recursive: true, force: true });
});

/** A stand-in for the program, which has the data of these languages. */
async function putOnPath(languages: string[], script: string): Promise<void> {
  const path = join(directory, 'tesseract');
  const list = [`List of available languages in "/data/" (${languages.length}):`, ...languages].join('\\n');
  await writeFile(
    path,
    `#!/bin/sh\nif [ "$1" = --list-langs ]; then printf '${list}\\n'; exit 0; fi\n${script}\n`,
  );
  await chmod(path, 0o755);
  process.env['PATH'] = `${directory}${delimiter}${realPath}`;
}

function pictures(ocrLanguages: string[]): boolean {
  return supportedTypes(abilitiesOf({ ocrLanguages, transcriber: false })).extensions.includes('png');
}

describe('the program tesseract', () => {
  it('reads pictures while it is on PATH: lines, paragraphs, how sure it is', async () => {
    await writeFile(join(directory, 'table'), TABLE);
    await putOnPath(
      ['eng', 'fra', 'osd'],
      `echo "$@" > ${directory}/asked; cat > ${directory}/picture; cat ${directory}/table`,
    );
    const limits = { ocrLanguages: ['eng', 'fra'] };
    const { text, report } = await parser.parse('png', png, { limits });
    expect(text).toBe('Read by\nprogram\n\nSociété');
    expect(report).toMatchObject({ parser: 'tesseract', pages_by_ocr: 1, ocr_confidence: 0.75 });
    expect(await readFile(join(directory, 'asked'), 'utf8')).toMatch(/^stdin stdout -l eng\+fra .*tsv\n$/);
    expect((await readFile(join(directory, 'picture'))).equals(png)).toBe(true);
  });

  it('is done without where it is not there, has not the language, or fails', async () => {
    await putOnPath(['fra'], 'exit 1');
    expect(tesseractFor(['eng'])).toBeNull();
    expect(tesseractFor(['fra'])).toBe(join(directory, 'tesseract'));
    const other = await parser.parse('png', png, { limits: LIMITS });
    expect(other.text).toContain('sorts barley');
    expect(other.report?.parser).toBe('tesseract.js');
    const failing = await parser.parse('png', png, { limits: { ocrLanguages: ['fra'] } });
    expect(failing.text).toContain('barley');
    process.env['PATH'] = '/nowhere';
    expect(tesseractFor(['fra'])).toBeNull();
  }, 60_000);

  it('makes up for data that are not installed, as the supported types say', async () => {
    expect(pictures(['eng'])).toBe(true);
    expect(pictures(['xyz'])).toBe(false);
    expect(abilitiesOf({ ocrLanguages: ['xyz'], transcriber: false }).noOcr).toContain('tesseract on PATH');
    await putOnPath(['eng', 'xyz'], 'exit 1');
    expect(pictures(['xyz'])).toBe(true);
    expect(pictures(['xyz', 'zyx'])).toBe(false);
    await expect(parser.parse('png', png, { limits: { ocrLanguages: ['xyz'] } })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
  });

  it('reads a photo on its side as it is stored where tesseract.js cannot, and the report says so', async () => {
    await writeFile(join(directory, 'table'), TABLE);
    await putOnPath(['eng', 'xyz'], `cat > /dev/null; cat ${directory}/table`);
    const stored = await readFile(new URL('on-its-side.jpg', import.meta.url));
    const photo = withOrientationInFront(stored, 6);
    // Up to the size of the picture: the program has other decoders.
    const odd = photo.subarray(0, photo.indexOf(Buffer.from([0xff, 0xc0])) + 19);
    for (const [bytes, language] of [
      [photo, 'xyz'],
      [odd, 'eng'],
    ] as const) {
      const { text, report } = await parser.parse('jpeg', bytes, { limits: { ocrLanguages: [language] } });
      expect(text).toContain('Read by\nprogram');
      expect(report).toMatchObject({ degraded: true, reasons: [expect.stringContaining('on its side')] });
    }
    const { text, report } = await parser.parse('jpeg', photo, { limits: LIMITS });
    expect(text).toContain('sorts barley');
    expect(report).toMatchObject({ degraded: false, reasons: [] });
  }, 60_000);

  it.each([
    ['a cancel', {}, 'cancelled'],
    ['the time limit', { timeoutMs: 6000 }, 'longer than 6 s'],
  ])('ends with its parser at %s', async (_name, more, message) => {
    const pidFile = join(directory, 'pid');
    await putOnPath(['eng'], `echo $$ > ${pidFile}; exec sleep 600`);
    const caller = new AbortController();
    const parsed = parser
      .parse('png', png, { limits: { ...LIMITS, ...more }, signal: caller.signal })
      .catch((error: unknown) => error);
    const pid = await until('the program runs', async () => {
      return Number(await readFile(pidFile, 'utf8').catch(() => '')) || false;
    });
    if (message === 'cancelled') caller.abort(new Error('cancelled'));
    expect(String(await parsed)).toContain(message);
    await until('the program is gone', async () => !isRunning(pid), { withinMs: 5000 });
  });
});

/** Where the program is installed with these languages; the tests above make do with a stand-in. */
const isInstalled = tesseractFor(['eng', 'fra']) !== null;

(isInstalled ? describe : describe.skip)('the real program', () => {
  it('reads a picture in the languages that are asked for', async () => {
    const lines = ['The quick sieve sorts barley', 'Le tamis trie le blé à l’été'];
    const picture = await scanPng(lines.map((text) => ({ text, size: 24 })));
    const { text, report } = await parser.parse('png', picture, { limits: { ocrLanguages: ['eng', 'fra'] } });
    expect(report).toMatchObject({ parser: 'tesseract', pages_by_ocr: 1 });
    expect(report!.ocr_confidence).toBeGreaterThan(0.6);
    expect(text).toContain('quick sieve sorts barley');
    expect(text).toMatch(/tamis trie le blé/);
  }, 60_000);

  it('reads each page of a scan of several', async () => {
    const scan = ZOO.find(({ name }) => name === 'three-pages.tiff')!;
    const { text, report } = await parser.parse('tiff', Buffer.from(await scan.bytes()), { limits: LIMITS });
    expect(report).toMatchObject({ parser: 'tesseract', pages: 3, pages_by_ocr: 3, degraded: false });
    expect(text).toMatch(/barley[^]*4711[^]*wheel/);
  }, 60_000);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
