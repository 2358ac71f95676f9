import { readFile } from 'node:fs/promises';
import { writeDocx } from '../support/documents/write-docx.js';
import { writeEml, writeMsg } from '../support/documents/write-mail.js';
import { animatedGif, animatedWebp } from '../support/documents/animate-picture.js';
import { declaringPng } from '../support/documents/sample-picture.js';
import { cropScan, decodePng, scanPng, writeBmp, writeTiff } from '../support/documents/sample-scan.js';
import type { Scan } from '../support/documents/sample-scan.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { writeZip } from '../support/documents/write-zip.js';
import { ALL_SCRIPTS, SCRIPTS, cut } from './specimen.js';
import type { Specimen } from './specimen.js';

const EMPTY = { code: 'NO_INDEXABLE_CONTENT' } as const;
const CORRUPT = { code: 'FILE_CORRUPT' } as const;
const TOO_COMPLEX = { code: 'FILE_TOO_COMPLEX' } as const;
const NOT_THIS = { code: 'UNSUPPORTED_MEDIA_TYPE' } as const;

const HEADERS = {
  From: '=?utf-8?Q?Zo=C3=A9?= <zoe@mill.example>',
  To: 'Ada <ada@mill.example>',
  Date: 'Tue, 05 Mar 2024 10:00:00 +0100',
  Subject: '=?utf-8?B?VGhlIG1pbGzigJlzIHdoZWVs?=',
  'Message-ID': '<third@mill.example>',
};

function mailWithin(depth: number): Buffer {
  const attachments =
    depth === 0 ? [] : [{ name: 'inner.eml', type: 'message/rfc822', content: mailWithin(depth - 1) }];
  return writeEml({
    headers: { Subject: `level ${depth}` },
    text: `words of level ${depth}`,
    attachments,
    boundary: `level-${depth}`,
  });
}

function goodMsg(): Buffer {
  return writeMsg({
    headers: HEADERS,
    text: ALL_SCRIPTS.join('\r\n'),
    attachments: [{ name: 'list.csv', type: 'text/csv', content: 'grain,price\nrye,four\n' }],
  });
}

const MAIL: Specimen[] = [
  {
    name: 'good.eml',
    bytes: () =>
      writeEml({
        headers: HEADERS,
        text: `${ALL_SCRIPTS.join('\n')}\n\nOn Mon, 4 Mar 2024 at 09:00, Ada <ada@mill.example> wrote:\n> Is it broken?`,
        attachments: [
          { name: 'list.csv', type: 'text/csv', content: 'grain,price\nrye,four\n' },
          {
            name: 'page.pdf',
            type: 'application/pdf',
            content: writePdf([[{ text: 'The attached page.' }]]),
          },
          {
            name: 'letter.docx',
            type: 'application/octet-stream',
            content: writeDocx([{ paragraph: 'The attached letter.' }]),
          },
        ],
      }),
    expected: {
      finds: [
        'The mill’s wheel',
        'Zoé',
        ...ALL_SCRIPTS,
        'Is it broken?',
        '| rye | four |',
        'The attached page.',
        'The attached letter.',
      ],
    },
  },
  { name: 'no-mail.eml', bytes: () => '', expected: CORRUPT },
  { name: 'words-alone.eml', bytes: () => 'just some words', expected: CORRUPT },
  {
    name: 'cut-off.eml',
    bytes: () => cut(writeEml({ headers: HEADERS, text: 'The first words. '.repeat(200) }), 0.7),
    expected: { finds: ['The first words.'] },
  },
  {
    name: 'old-charset.eml',
    bytes: () =>
      Buffer.from(
        'From: a@mill.example\r\nSubject: =?iso-8859-1?Q?Soci=E9t=E9?=\r\nContent-Type: text/plain; charset=iso-8859-1\r\n' +
          'Content-Transfer-Encoding: quoted-printable\r\n\r\nLe moulin a =E9t=E9 r=E9par=E9.\r\n',
      ),
    expected: { finds: ['Société', 'Le moulin a été réparé.'] },
  },
  {
    name: 'mails-in-mails.eml',
    bytes: () => mailWithin(3),
    expected: { finds: ['words of level 3', 'words of level 0'] },
  },
  { name: 'mails-in-mails-without-end.eml', bytes: () => mailWithin(9), expected: TOO_COMPLEX },
  {
    name: 'twenty-thousand-parts.eml',
    bytes: () =>
      Buffer.from(
        `From: a@mill.example\r\nSubject: many\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Type: application/x\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nx\r\n'.repeat(20_000)}--b--\r\n`,
      ),
    expected: TOO_COMPLEX,
  },
  {
    name: 'paths-of-attachments.eml',
    bytes: () =>
      writeEml({
        headers: HEADERS,
        text: 'Words.',
        attachments: [
          { name: '../../../etc/cron.d/evil.txt', type: 'text/plain', content: 'The evil needle.' },
        ],
      }),
    expected: { finds: ['The evil needle.'] },
  },
  {
    name: 'a-damaged-attachment.eml',
    bytes: () =>
      writeEml({
        headers: HEADERS,
        text: 'Words beside damage.',
        attachments: [{ name: 'broken.pdf', type: 'application/pdf', content: '%PDF-1.4\nnothing' }],
      }),
    expected: { finds: ['Words beside damage.', 'broken.pdf was not read'], degraded: true },
  },
  {
    name: 'remote-pictures.eml',
    bytes: () =>
      writeEml({
        headers: HEADERS,
        html: '<p>Words beside a tracking pixel.</p><img src="http://127.0.0.1:1/pixel.gif">',
      }),
    expected: { finds: ['Words beside a tracking pixel.'] },
  },
  {
    name: 'good.msg',
    bytes: goodMsg,
    expected: { finds: [...ALL_SCRIPTS, '| rye | four |'] },
  },
  {
    name: 'cut-off.msg',
    bytes: () => cut(writeMsg({ headers: HEADERS, text: 'words' }), 0.1),
    expected: CORRUPT,
  },
  {
    // Its streams are longer than what is left of it.
    name: 'cut-off-late.msg',
    bytes: () => goodMsg().subarray(0, 3845),
    expected: CORRUPT,
  },
  { name: 'really-text.msg', bytes: () => 'From: a', expected: NOT_THIS },
];

function nested(depth: number): Buffer {
  return depth === 0
    ? writeZip([{ name: 'deep.txt', content: 'the deep needle' }])
    : writeZip([{ name: 'inner.zip', content: nested(depth - 1) }]);
}

function locked(): Buffer {
  const bytes = writeZip([{ name: 'a.txt', content: 'x' }]);
  bytes[6]! |= 1;
  bytes[bytes.indexOf('PK\x01\x02', 0, 'latin1') + 8]! |= 1;
  return bytes;
}

/** Every entry of the directory points at the same packed bytes, as in "a better zip bomb" (Fifield, 2019). */
function overlapping(entries: number): Buffer {
  const one = writeZip([{ name: 'a.txt', content: Buffer.alloc(4_000_000, 97) }]);
  const directoryAt = one.indexOf('PK\x01\x02', 0, 'latin1');
  const end = one.subarray(one.length - 22);
  const entry = one.subarray(directoryAt, one.length - 22);
  const head = Buffer.from(end);
  head.writeUInt16LE(entries, 8);
  head.writeUInt16LE(entries, 10);
  head.writeUInt32LE(entry.length * entries, 12);
  return Buffer.concat([one.subarray(0, directoryAt), ...Array.from({ length: entries }, () => entry), head]);
}

const ARCHIVES: Specimen[] = [
  {
    name: 'good.zip',
    bytes: () =>
      writeZip([
        { name: 'docs/a.txt', content: SCRIPTS.chinese },
        { name: 'docs/b.docx', content: writeDocx([{ paragraph: 'A letter within.' }]) },
        { name: 'program.exe', content: 'MZ' },
      ]),
    expected: { finds: [SCRIPTS.chinese, 'A letter within.', 'program.exe was not read'] },
  },
  {
    name: 'no-members.zip',
    bytes: () => Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)]),
    expected: NOT_THIS,
  },
  {
    name: 'cut-off.zip',
    bytes: () => cut(writeZip([{ name: 'a.txt', content: 'words' }]), 0.6),
    expected: NOT_THIS,
  },
  { name: 'with-password.zip', bytes: locked, expected: { code: 'FILE_ENCRYPTED' } },
  {
    name: 'path-tricks.zip',
    bytes: () =>
      writeZip([
        { name: '../../../etc/evil.md', content: 'the needle outside' },
        { name: '/absolute\\path.txt', content: 'the absolute needle' },
        { name: 'C:\\Windows\\win.txt', content: 'the needle of a drive' },
        { name: `${'long/'.repeat(5000)}a.txt`, content: 'the long needle' },
        { name: 'nul\0l.txt', content: 'the needle with a nul' },
      ]),
    expected: {
      finds: ['the needle outside', 'the absolute needle', 'the needle of a drive', 'the long needle'],
    },
  },
  { name: 'nested-three-deep.zip', bytes: () => nested(3), expected: { finds: ['the deep needle'] } },
  { name: 'nested-nine-deep.zip', bytes: () => nested(9), expected: TOO_COMPLEX },
  {
    name: 'bomb.zip',
    bytes: () => writeZip([{ name: 'a.txt', content: Buffer.alloc(60_000_000, 32) }]),
    expected: TOO_COMPLEX,
  },
  { name: 'overlapping-bomb.zip', bytes: () => overlapping(2000), expected: TOO_COMPLEX },
  {
    name: 'too-many-members.zip',
    bytes: () =>
      writeZip(Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}.txt`, content: '' }))),
    expected: TOO_COMPLEX,
  },
  {
    name: 'lies-about-a-size.zip',
    bytes: () => writeZip([{ name: 'a.txt', content: 'word '.repeat(50), declaredSize: 10 }]),
    expected: TOO_COMPLEX,
  },
];

const LINES = [
  { text: 'The quick sieve sorts barley', size: 24 },
  { text: 'Number 4711 of the mill', size: 24 },
];
const SEEN = ['quick sieve sorts barley', 'Number 4711'];

function scan(): Promise<Buffer> {
  return scanPng(LINES);
}

/** Pages with these lines each; null: a page whose pixels are not there. */
async function tiff(...pages: (string[] | null)[]): Promise<Buffer> {
  const scans: Scan[] = [];
  for (const lines of pages) {
    const shown = (lines ?? ['lost']).map((text) => ({ text, size: 24 }));
    const top = cropScan(decodePng(await scanPng(shown, 100)), 0.15);
    scans.push(lines === null ? { ...top, pixels: Buffer.alloc(0) } : top);
  }
  return writeTiff(scans);
}

/**
 * Of formats that nothing here writes. Made of `scan()` by
 * `ffmpeg -i scan.png -vf crop=900:300:0:0 -frames:v 1 good.gif`, `-q:v 4 good.jpeg` and `-lossless 1 good.webp`.
 */
function kept(name: string): Specimen {
  return { name, bytes: () => keptBytes(name), expected: { finds: SEEN }, ocr: true };
}

function keptBytes(name: string): Promise<Buffer> {
  return readFile(new URL(`./files/${name}`, import.meta.url));
}

const PICTURES: Specimen[] = [
  { name: 'good.png', bytes: scan, expected: { finds: SEEN }, ocr: true },
  ...['good.jpeg', 'good.gif', 'good.webp'].map(kept),
  {
    name: 'animated.gif',
    bytes: async () => animatedGif(await keptBytes('good.gif')),
    expected: { finds: SEEN, degraded: true },
    ocr: true,
  },
  {
    name: 'animated.webp',
    bytes: async () => animatedWebp(await keptBytes('good.webp')),
    expected: { finds: SEEN, degraded: true },
    ocr: true,
  },
  {
    name: 'good.bmp',
    bytes: async () => writeBmp(decodePng(await scan())),
    expected: { finds: SEEN },
    ocr: true,
    huge: true,
  },
  {
    name: 'three-pages.tiff',
    bytes: () =>
      tiff(['The quick sieve sorts barley'], ['Number 4711 of the mill'], ['A wheel by the river']),
    expected: { finds: ['sieve sorts barley', 'Number 4711', 'wheel by the river'] },
    ocr: true,
  },
  {
    name: 'second-page-damaged.tiff',
    bytes: () => tiff(['The quick sieve sorts barley'], null, ['A wheel by the river']),
    expected: { finds: ['sieve sorts barley', 'wheel by the river'], degraded: true },
    ocr: true,
  },
  {
    name: 'pages-in-a-circle.tiff',
    bytes: async () => {
      const bytes = await tiff(['The quick sieve sorts barley'], ['Number 4711 of the mill']);
      // Behind the last page comes the first.
      bytes.copy(bytes, bytes.length - 4, 4, 8);
      return bytes;
    },
    expected: { finds: ['sieve sorts barley', 'Number 4711'], degraded: true },
    ocr: true,
  },
  { name: 'no-text.png', bytes: () => declaringPng(64, 48), expected: EMPTY, ocr: true },
  { name: 'cut-off.png', bytes: async () => cut(await scan(), 0.01), expected: CORRUPT, ocr: true },
  { name: 'sixteen-gigapixels.png', bytes: () => declaringPng(130_000, 130_000), expected: TOO_COMPLEX },
  { name: 'really-a-page.png', bytes: () => '<html>words</html>', expected: NOT_THIS },
  { name: 'really-a-png.jpg', bytes: scan, expected: NOT_THIS },
  { name: 'empty.gif', bytes: () => '', expected: NOT_THIS },
  {
    name: 'scanned.pdf',
    bytes: async () => {
      const { width, height, pixels } = decodePng(await scan());
      return writePdf([[]], {
        pictures: [{ width, height, pixels, page: 0, x: 0, y: 0, side: 595, rise: 842 }],
      });
    },
    expected: { finds: SEEN },
    ocr: true,
  },
];

/** Mail, archives and pictures. */
export const PACKED_SPECIMENS: Specimen[] = [...MAIL, ...ARCHIVES, ...PICTURES];
