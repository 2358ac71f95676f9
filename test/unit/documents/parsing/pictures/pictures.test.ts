import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readChunkFile } from '../../../../../activities/documents/parsing/chunk-file.js';
import type { ParsedChunk } from '../../../../../activities/documents/parsing/chunk.js';
import type { FileKind } from '../../../../../activities/documents/parsing/file-types.js';
import { createParserPool } from '../../../../../activities/documents/parsing/parser-pool.js';
import type { ParserPool } from '../../../../../activities/documents/parsing/parser-pool.js';
import { readPictureFormat } from '../../../../../activities/documents/parsing/pictures/picture-format.js';
import type { PictureLimits } from '../../../../../activities/documents/parsing/pictures/picture-limits.js';
import { writePng } from '../../../../../activities/documents/parsing/pictures/write-png.js';
import {
  dataUri,
  declaringPng,
  samplePixels,
  samplePng,
} from '../../../../support/documents/sample-picture.js';
import { writeDocx } from '../../../../support/documents/write-docx.js';
import { writePptx } from '../../../../support/documents/write-office.js';
import { writePdf } from '../../../../support/documents/write-pdf.js';

let directory: string;
let pool: ParserPool;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tamis-pictures-'));
  pool = createParserPool({ size: 2 });
});
afterAll(async () => {
  await pool.close();
  await rm(directory, { recursive: true, force: true });
});

const [first, second] = [samplePng(10), samplePng(20)];

async function read(kind: FileKind, bytes: Buffer | string, limits?: Partial<PictureLimits> | 'none') {
  const path = join(directory, `${count++}.${kind}`);
  const folder = `${path}-pictures`;
  await writeFile(path, bytes);
  const { pictures } = await pool.parseAndChunk({
    path,
    kind,
    filename: 'upload',
    outputPath: `${path}.jsonl`,
    chunking: { chunkSize: 512, overlapRate: 0.2 },
    ...(limits !== 'none' && { pictures: { directory: folder, ...(limits && { limits }) } }),
  });
  const chunks: ParsedChunk[] = [];
  for await (const chunk of readChunkFile(`${path}.jsonl`)) chunks.push(chunk);
  const names = await readdir(folder).catch(() => []);
  const kept = await Promise.all(names.sort().map((name) => readFile(join(folder, name))));
  const told = chunks.map(({ text, picture }) => picture ?? text);
  return { pictures, chunks, kept, told };
}

/** Text alone, as it is without pictures. */
function texts(chunks: readonly ParsedChunk[]) {
  return chunks.flatMap(({ text, page, headingPath, chunkType, picture }) =>
    picture === undefined ? [{ text, page, headingPath, chunkType }] : [],
  );
}

describe('pictures of Markdown', () => {
  const markdown = [
    '# Mills\n\nThe mill stands by the weir.',
    `![The wheel](${dataUri(first)} "turning")`,
    'It has two floors.\n\n# Stones\n\nThey are dressed in spring.\n\n![][stone]\n\nAnd in autumn.',
    `[stone]: <${dataUri(second)}>\n`,
  ].join('\n\n');

  it('stand behind the chunk in which they are shown, also by a label', async () => {
    const { chunks, kept, pictures, told } = await read('md', markdown);
    expect(pictures).toEqual({ kept: 2, leftOut: 0 });
    expect(kept.map((bytes) => bytes.equals(first) || bytes.equals(second))).toEqual([true, true]);
    expect(told).toEqual([
      '# Mills\n\nThe mill stands by the weir.\n\nThe wheel\n\nIt has two floors.',
      0,
      '# Stones\n\nThey are dressed in spring.\n\nAnd in autumn.',
      1,
    ]);
    expect(chunks[1]).toMatchObject({ headingPath: ['Mills'], chunkType: 'image', position: 1, text: '' });
    expect(chunks[3]).toMatchObject({ headingPath: ['Stones'], position: 3 });
  });

  it('leave a mark where nobody wants them', async () => {
    const { chunks, pictures, kept } = await read('md', markdown, 'none');
    expect([pictures, kept]).toEqual([undefined, []]);
    const text = chunks.map((chunk) => chunk.text).join('\n');
    expect(text).toMatch(/!\[The wheel\]\(data:image\/png,[\d.]+K?B "turning"\)/);
    expect(text).toMatch(/\[stone\]: <data:image\/png,[\d.]+K?B>/);
    expect(chunks.some(({ chunkType }) => chunkType === 'image')).toBe(false);
  });

  it('are data URIs of pictures alone: nothing is fetched, and an example stays text', async () => {
    const text = [
      'See ![far](http://127.0.0.1:9/far.png) and ![near](near.png).',
      `![no picture](${dataUri(Buffer.from('a text that says it is a picture'))})`,
      '![text](data:text/plain;base64,aGVsbG8=) and `data:image/png;base64,iVBORw0KGgo=` in code.',
      `![icon](${dataUri(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml')})`,
    ].join('\n\n');
    const { told, pictures, kept } = await read('md', text);
    expect([told, kept]).toEqual([[text], []]);
    expect(pictures).toEqual({ kept: 0, leftOut: 0 });
  });
});

describe('pictures of HTML', () => {
  it('stand in their sections; what lies around them is what it was', async () => {
    const page = (one: string, two: string) =>
      `<h1>Mills</h1><p>By the weir <img alt="a wheel" src="${one}"> it stands.</p><table><tr><td>x</td></tr>
       <tr><td><img alt="a stone" src='${two}'></td></tr></table><h1>End</h1><p>Done.</p>`;
    const { told, pictures, chunks } = await read('html', page(dataUri(first), dataUri(second)));
    expect(pictures).toEqual({ kept: 2, leftOut: 0 });
    const without = await read('html', page('one.png', 'two.png'), 'none');
    expect(texts(chunks)).toEqual(texts(without.chunks));
    expect(told.filter((one) => typeof one === 'number')).toEqual([0, 1]);
    expect(chunks.find(({ picture }) => picture === 1)?.headingPath).toEqual(['Mills']);
  });

  it('are found also where the page is too deep for a tree', async () => {
    const deep = `${'<div>'.repeat(500)}Deep down<img src="${dataUri(first)}">${'</div>'.repeat(500)}`;
    expect((await read('html', deep)).told).toEqual(['Deep down', 0]);
  });

  it('may be large: the text around them is still read with its structure', async () => {
    const noise = Buffer.concat([first, Buffer.alloc(6 * 1024 * 1024, 3)]);
    const images = [1, 2, 3].map((n) => `<img src="${dataUri(Buffer.concat([noise, Buffer.from([n])]))}">`);
    const { told, pictures } = await read('html', `<h1>Big</h1><p>Text.</p>${images.join('')}`);
    expect([pictures, told]).toEqual([{ kept: 3, leftOut: 0 }, ['# Big\n\nText.', 0, 1, 2]]);
  });
});

describe('pictures of Word documents', () => {
  const media = (name: string, content: Buffer, declaredSize?: number) => ({
    name: `word/media/${name}`,
    content,
    ...(declaredSize !== undefined && { declaredSize }),
  });
  const blocks = [
    { heading: 'Mills', level: 1 },
    { paragraph: 'By the weir.' },
    { picture: 'a.png', description: 'a wheel' },
    { heading: 'Stones', level: 1 },
    { paragraph: 'Dressed in spring.' },
    { picture: 'b.emf' },
    { picture: 'a.png', description: 'once more' },
  ];

  it('are unpacked; an old drawing format is left out and counted, a repeated picture is one', async () => {
    const { told, pictures, kept, chunks } = await read(
      'docx',
      writeDocx(blocks, [media('a.png', first), media('b.emf', Buffer.alloc(5000, 1))]),
    );
    expect(pictures).toEqual({ kept: 1, leftOut: 1 });
    expect(kept[0]?.equals(first)).toBe(true);
    expect(told).toEqual([
      '# Mills\n\nBy the weir.\n\na wheel',
      0,
      '# Stones\n\nDressed in spring.\n\nonce more',
    ]);
    expect(chunks[1]?.headingPath).toEqual(['Mills']);
  });

  it('are left alone in a package whose media are not what they say', async () => {
    const bomb = writeDocx(blocks, [media('a.png', Buffer.alloc(3_000_000), 100), media('b.emf', first)]);
    const { pictures, told } = await read('docx', bomb);
    expect([pictures, told.length]).toEqual([{ kept: 0, leftOut: 1 }, 2]);
  });

  it('may be missing', async () => {
    const { pictures, told } = await read('docx', writeDocx(blocks.slice(0, 2), []));
    expect([pictures, told]).toEqual([{ kept: 0, leftOut: 0 }, ['# Mills\n\nBy the weir.']]);
  });
});

describe('pictures of PDF files', () => {
  const line = (text: string, y: number) => ({ text, y });
  const picture = (shade: number, y: number, page = 0) => ({
    width: 90,
    height: 60,
    pixels: samplePixels(90, 60, shade),
    page,
    x: 100,
    y,
    side: 120,
  });

  it('stand on their pages, between the lines above and below, with the pixels of the file', async () => {
    const pages = [
      [line('The first line of the page stands at its top.', 780), line('The last line is at the end.', 80)],
      [line('Only text here.', 780)],
      [line('Behind it comes another picture.', 780)],
    ];
    const bytes = writePdf(pages, { pictures: [picture(40, 400), picture(90, 300, 2)] });
    const { chunks, kept, pictures } = await read('pdf', bytes);
    expect(pictures).toEqual({ kept: 2, leftOut: 0 });
    expect(
      chunks.flatMap(({ picture: number, page }) => (number === undefined ? [] : [[number, page]])),
    ).toEqual([
      [0, 1],
      [1, 3],
    ]);
    expect(kept.map((png) => readPictureFormat(png))).toEqual([
      { mimetype: 'image/png', width: 90, height: 60 },
      { mimetype: 'image/png', width: 90, height: 60 },
    ]);
    expect(
      kept[0]?.equals(writePng({ width: 90, height: 60, channels: 3, data: samplePixels(90, 60, 40) })),
    ).toBe(true);
    const without = await read('pdf', bytes, 'none');
    expect(texts(chunks)).toEqual(
      without.chunks.map(({ text, page, headingPath, chunkType }) => ({
        text,
        page,
        headingPath,
        chunkType,
      })),
    );
  });

  it('that declare more pixels than the limit are not decoded', async () => {
    const bomb = { ...picture(1, 300), width: 60_000, height: 60_000 };
    const { pictures, told } = await read('pdf', writePdf([[line('Text.', 780)]], { pictures: [bomb] }));
    expect([pictures, told]).toEqual([{ kept: 0, leftOut: 1 }, ['Text.']]);
  });

  it('are all that a scan has', async () => {
    const { told } = await read('pdf', writePdf([[]], { pictures: [picture(5, 300)] }));
    expect(told).toEqual([0]);
  });
});

describe('what a document may hold', () => {
  const many = (shades: readonly number[]) => shades.map((n) => `![](${dataUri(samplePng(n))})`).join('\n\n');

  it.each<[string, string, Partial<PictureLimits>, { kept: number; leftOut: number }]>([
    ['a number of pictures', many([1, 2, 3, 4]), { maxPictures: 2 }, { kept: 2, leftOut: 2 }],
    ['bytes of one', many([1, 2]), { maxBytes: 50 }, { kept: 0, leftOut: 2 }],
    ['bytes of all', many([1, 2, 3]), { maxTotalBytes: 2 * samplePng(1).length }, { kept: 2, leftOut: 1 }],
    ['pixels', `![](${dataUri(declaringPng(30_000, 30_000))})`, {}, { kept: 0, leftOut: 1 }],
    ['no decoration', `![](${dataUri(samplePng(1, 16, 300))})`, {}, { kept: 0, leftOut: 0 }],
  ])('%s', async (_name, text, limits, expected) => {
    const { pictures, kept } = await read('md', `Text.\n\n${text}`, limits);
    expect([pictures, kept.length]).toEqual([expected, expected.kept]);
  });
});

describe('formats', () => {
  const riff = (rest: string) => Buffer.from(`52494646000000005745425056503${rest}`.padEnd(80, '0'), 'hex');
  const jpeg = 'ffd8ffe000104a46494600010100000100010000ffff' + 'c0001108' + '0030' + '0040' + '03';
  it.each<[string, Buffer, object | null]>([
    ['JPEG', Buffer.from(jpeg.padEnd(80, '0'), 'hex'), { mimetype: 'image/jpeg', width: 64, height: 48 }],
    ['GIF', Buffer.from('47494638396140003000'.padEnd(80, '0'), 'hex'), { width: 64, height: 48 }],
    [
      'WebP, lossy',
      riff('8200a0000003001009d012a40003000'),
      { mimetype: 'image/webp', width: 64, height: 48 },
    ],
    ['WebP, lossless', riff('84c0a0000002f3fc00b00'), { width: 64, height: 48 }],
    ['WebP, extended', riff('8580a000000100000003f00002f0000'), { width: 64, height: 48 }],
    ['a JPEG without a frame', Buffer.from('ffd8ffe00010'.padEnd(80, '0'), 'hex'), null],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="64"/>'), null],
    ['too few bytes', first.subarray(0, 20), null],
  ])('%s', (_name, bytes, expected) => {
    if (expected === null) expect(readPictureFormat(bytes)).toBeNull();
    else expect(readPictureFormat(bytes)).toMatchObject(expected);
  });

  it('a scan is made as small as a model looks at', () => {
    const png = writePng({ width: 2480, height: 3508, channels: 3, data: samplePixels(2480, 3508, 200) });
    expect(readPictureFormat(png)).toMatchObject({ width: 1240, height: 1754 });
    const at = png.indexOf('IDAT');
    const rows = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
    expect(rows.length).toBe(1754 * (1240 * 3 + 1));
    expect([rows[0], rows[1], rows.at(-1)]).toEqual([0, 200, 200]);
  });
});

describe('pictures of slides, texts of OpenDocument and books', () => {
  const OFFICE = 'http://schemas.openxmlformats.org';
  const slide =
    `<?xml version="1.0"?><p:sld xmlns:a="${OFFICE}/drawingml/2006/main" xmlns:p="${OFFICE}/presentationml/2006/main" ` +
    `xmlns:r="${OFFICE}/officeDocument/2006/relationships"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/>` +
    '<p:cNvSpPr/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>The wheel' +
    '</a:t></a:r></a:p></p:txBody></p:sp><p:pic><p:nvPicPr><p:cNvPr id="4" name="pic"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>' +
    '<p:blipFill><a:blip r:embed="p1"/></p:blipFill><p:spPr/></p:pic></p:spTree></p:cSld></p:sld>';
  const relationships = `<?xml version="1.0"?><Relationships xmlns="${OFFICE}/package/2006/relationships"><Relationship Id="p1" Type="${OFFICE}/officeDocument/2006/relationships/image" Target="../media/image1.png"/></Relationships>`;
  const presentation = writePptx(
    [{ title: 'First' }],
    [
      { name: 'ppt/slides/slide2.xml', content: slide },
      { name: 'ppt/slides/_rels/slide2.xml.rels', content: relationships },
      { name: 'ppt/media/image1.png', content: first },
    ],
    [1, 2],
  );

  it('stand on their slide, in place', async () => {
    const { pictures, kept, told, chunks } = await read('pptx', presentation);
    expect(pictures).toEqual({ kept: 1, leftOut: 0 });
    expect(kept).toEqual([first]);
    expect(told).toEqual([expect.stringContaining('First'), expect.stringContaining('The wheel'), 0]);
    expect(chunks.at(-1)).toMatchObject({ page: 2, headingPath: ['The wheel'] });
  });

  it('are not unpacked where none are wanted', async () => {
    const { pictures, kept, told } = await read('pptx', presentation, 'none');
    expect([pictures, kept]).toEqual([undefined, []]);
    expect(told).toHaveLength(2);
  });
});
