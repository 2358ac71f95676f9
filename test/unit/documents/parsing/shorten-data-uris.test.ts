import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readChunkFile } from '../../../../activities/documents/parsing/chunk-file.js';
import type { ParsedChunk } from '../../../../activities/documents/parsing/chunk.js';
import type { FileKind } from '../../../../activities/documents/parsing/file-types.js';
import { createParserPool } from '../../../../activities/documents/parsing/parser-pool.js';
import type { ParserPool } from '../../../../activities/documents/parsing/parser-pool.js';
import { shortenDataUris } from '../../../../activities/documents/parsing/shorten-data-uris.js';

const MIB = 1024 * 1024;
const BYTES = Buffer.alloc(3000, 'picture');
const BASE64 = BYTES.toString('base64');
const MARK = 'data:image/png,2.93KB';

async function* inFragments(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function shorten(text: string, size = 256 * 1024): Promise<string> {
  let shortened = '';
  for await (const fragment of shortenDataUris(inFragments(text, size))) shortened += fragment;
  return shortened;
}

function wrap(text: string, width: number, lineEnd = '\n'): string {
  return (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(lineEnd);
}

describe('a data URI in a text', () => {
  const svg = `<svg xmlns='http://www.w3.org/2000/svg'>${"<path transform='translate(1,2)'/>".repeat(9)}</svg>`;

  it.each([
    ['an inline link', `![a](data:image/png;base64,${BASE64} "t") b`, `![a](${MARK} "t") b`],
    ['angle brackets', `![a](<data:image/png;base64,${BASE64}>) b`, `![a](<${MARK}>) b`],
    ['a definition', `[a]: data:image/png;base64,${BASE64}\n"t"\n`, `[a]: ${MARK}\n"t"\n`],
    ['a definition in brackets', `[a]: <data:image/png;base64,${BASE64}>\n`, `[a]: <${MARK}>\n`],
    ['a tag', `<img src='data:image/png;base64,${BASE64}'>`, `<img src='${MARK}'>`],
    ['a tag without quotes', `<img src=data:image/png;base64,${BASE64}>`, `<img src=${MARK}>`],
    ['CSS', `url(data:image/png;base64,${BASE64})`, `url(${MARK})`],
    ['a sentence', `(data:image/png;base64,${BASE64} is it) and`, `(${MARK} is it) and`],
    ['upper case', `![a](DATA:Image/PNG;BASE64,${BASE64})`, `![a](${MARK})`],
    ['parameters', `![a](data:image/png;name="a.png";base64,${BASE64})`, `![a](${MARK})`],
    ['white space', `![a]( data: image/png ; base64 , ${wrap(BASE64, 64, '\n  ')} )`, `![a]( ${MARK} )`],
    ['lines', `data:image/png;base64,${wrap(BASE64, 76)}\n\nNext.`, `${MARK}\n\nNext.`],
    [
      'percent-encoding',
      `![a](data%3Aimage%2Fpng%3Bbase64%2C${encodeURIComponent(BASE64)})`,
      `![a](${MARK})`,
    ],
    ['encoded signs', `![a](data:image/png;base64,${BASE64.replaceAll('c', '%63')}%0A)`, `![a](${MARK})`],
    ['the alphabet of URLs', `![a](data:image/png;base64,${BYTES.toString('base64url')})`, `![a](${MARK})`],
    ['no type', `data:;base64,${BASE64} b`, 'data:text/plain,2.93KB b'],
    [
      'text',
      `![a](data:image/svg+xml,${encodeURIComponent(svg)}) b`,
      `![a](data:image/svg+xml,${svg.length}.00B) b`,
    ],
    [
      'text in quotes',
      `<img src="data:image/svg+xml;utf8,${svg}">`,
      `<img src="data:image/svg+xml,${svg.length}.00B">`,
    ],
    [
      'two of them',
      `data:a/b data:font/x;base64,${BASE64},${BASE64}`,
      `data:a/b data:font/x,2.93KB,${BASE64}`,
    ],
  ])('leaves its type and size: %s', async (_what, text, expected) => {
    expect(await shorten(text)).toBe(expected);
    for (const size of [1, 2, 7, 299, 301])
      expect([size, await shorten(text, size)]).toEqual([size, expected]);
  });

  it.each([
    ['an example', 'It reads `data:image/png;base64,iVBORw0KGgo=` in code.'],
    ['a sentence', `We have data: and/or, for "data:and/or, ${'many words '.repeat(20)}", more.`],
    ['text that is no such URI', `metadata:text, data:image/png, data:${'x'.repeat(500)},y data:`],
    [
      'a URI of something else',
      `data:nonsense/x,${'y'.repeat(200)} data:image/png is a header; see base64, which`,
    ],
    ['the end of the text', 'data:image/png;base64'],
    ['what was shortened before', `![a](${MARK})`],
  ])('is left as it is: %s', async (_what, text) => {
    for (const size of [1, 5, 1e6]) expect(await shorten(text, size)).toBe(text);
  });

  it('is told of at the first place, before what stands behind it is given', async () => {
    const places: number[] = [];
    let given = '';
    const text = `data:a/b,c ![a](data:image/png;base64,${BASE64}) ![b](data:image/png;base64,${BASE64})`;
    const onFirst = (position: number): void => void places.push(position, given.length);
    for await (const fragment of shortenDataUris(inFragments(text, 10), onFirst)) given += fragment;
    expect(places[0]).toBe(text.indexOf('data:image'));
    expect(places).toHaveLength(2);
    expect(places[1]).toBeLessThanOrEqual(places[0]!);
  });

  it.each([
    ['one without an end', `data:image/png;base64,${'A'.repeat(32 * MIB)}`],
    ['beginnings', 'data:'.repeat(MIB)],
    ['beginnings without a comma', `data:${';'.repeat(290)}`.repeat(20_000)],
    ['heads', 'data:image/png;base64,'.repeat(200_000)],
    ['quotes that are not closed', '"data:text/a,'.repeat(200_000)],
    ['brackets that are not closed', `(data:text/a,${'('.repeat(4 * MIB)}`],
    ['white space', `data:image/png;base64,AAAA${' '.repeat(16 * MIB)}`],
    ['lines', `"data:text/a,x${'\n '.repeat(4 * MIB)}`],
    ['signs apart', `data:image/png;base64,${'A '.repeat(4 * MIB)}`],
    ['encoded line ends', `data:image/png;base64,${'%0A'.repeat(MIB)}`],
    ['many', `data:image/png;base64,${'A'.repeat(65)} `.repeat(50_000)],
  ])(
    'costs time in proportion to the text, and no memory: %s',
    async (_what, text) => {
      let longest = 0;
      for await (const fragment of shortenDataUris(inFragments(text, 256 * 1024)))
        longest = Math.max(longest, fragment.length);
      // With the square of the length any of these would take hours; nothing is held back but the fragment that is
      // read.
      expect(longest).toBeLessThan(MIB);
    },
    60_000,
  );
});

describe('a document with pictures as data URIs', () => {
  let directory: string;
  let pool: ParserPool;
  let count = 0;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tamis-uris-'));
    pool = createParserPool({ size: 1 });
  });
  afterAll(async () => {
    await pool.close();
    await rm(directory, { recursive: true, force: true });
  });

  const read = async (kind: FileKind, text: string, pictures = false): Promise<ParsedChunk[]> => {
    const path = join(directory, `${count++}.${kind}`);
    await writeFile(path, text);
    await pool.parseAndChunk({
      path,
      kind,
      filename: 'upload',
      outputPath: `${path}.jsonl`,
      chunking: { chunkSize: 512, overlapRate: 0.2 },
      ...(pictures && { pictures: { directory: `${path}-pictures` } }),
    });
    const chunks: ParsedChunk[] = [];
    for await (const chunk of readChunkFile(`${path}.jsonl`)) chunks.push(chunk);
    return chunks;
  };
  const large = Buffer.alloc(142_000, 7).toString('base64');
  const svg = `data:image/svg+xml;base64,${large}`;

  it.each([false, true])('of Markdown is as long as its words, captioned: %s', async (pictures) => {
    const text = [
      `# Mill\n\nBefore.\n\n![wheel](${svg})\n\nBetween.`,
      `![stone][s]\n\n<img src="${svg}" alt="weir">\n\n| a | b |\n|---|---|\n| ![x](${svg}) | y |`,
      `# The ![sign](${svg}) on the door\n\nAfter.\n\n[s]: <${svg}> "Stone"`,
    ].join('\n\n');
    const chunks = await read('md', text, pictures);
    const mark = 'data:image/svg+xml,138.67KB';
    const told = chunks.map((chunk) => chunk.text).join('\n\n');
    expect(told).toContain(`Before.\n\n![wheel](${mark})\n\nBetween.\n\n![stone][s]`);
    expect(told).toContain(`<img src="${mark}" alt="weir">`);
    expect(told).toContain(`| ![x](${mark}) | y |`);
    expect(told).toContain(`[s]: <${mark}> "Stone"`);
    expect(told.length).toBeLessThan(600);
    expect(chunks.at(-1)?.headingPath).toEqual(['The sign on the door']);
    expect(chunks.length).toBeLessThan(6);
  });

  it('of Markdown knows no places in its source behind the first', async () => {
    const words = (name: string): string => `# ${name}\n\nSome words of ${name}.\n\n`;
    const chunks = await read('md', `${words('One')}${words('Two')}![x](${svg})\n\n${words('Three')}`);
    const source = `${words('One')}${words('Two')}`;
    expect(chunks.map(({ headingPath, charStart }) => [headingPath[0], charStart])).toEqual([
      ['One', 0],
      ['Two', source.indexOf('# Two')],
      ['Three', undefined],
    ]);
  });

  it.each([false, true])('of HTML shows where they stand, captioned: %s', async (pictures) => {
    const page = `<h1>Mill</h1><p>By the <img alt="weir" src="${svg}"> it stands.</p><p>See
      <a href="${svg}">this</a>.</p><pre>${svg}</pre><table><tr><td><img src='${svg}'></td></tr></table>`;
    const mark = 'data:image/svg+xml,138.67KB';
    for (const html of [page, `${'<div>'.repeat(500)}${page}${'</div>'.repeat(500)}`]) {
      const told = (await read('html', html, pictures)).map(({ text }) => text).join('\n');
      expect(told.split(mark)).toHaveLength(4);
      expect(told).toMatch(/By the .*data:image.* it stands/);
      expect(told.length).toBeLessThan(400);
    }
  });
});
