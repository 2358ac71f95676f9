import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

export interface PdfLine {
  text: string;
  size?: number;
  bold?: boolean;
  x?: number;
  /** Distance from the bottom edge in points; without it lines run down from the top. */
  y?: number;
}

/** A picture of red, green and blue, a byte each. */
export interface PdfPicture {
  /** As declared; the pixels may be fewer than that. */
  width: number;
  height: number;
  pixels: Buffer;
  /** The page it stands on, from 0, and its lower left corner in points. */
  page: number;
  x: number;
  y: number;
  /** Side on the page, in points. */
  side: number;
  /** Its other side, where it is no square. */
  rise?: number;
}

export interface PdfOptions {
  pictures?: PdfPicture[];

  /** Password that is asked for on opening (40-bit RC4, the oldest standard handler). */
  userPassword?: string;
  /** Every page draws a form that draws itself twice: endless work for a naive renderer. */
  selfRecursiveForm?: boolean;
}

const PADDING = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');

/** Writes a small valid PDF (A4, Helvetica, uncompressed) with one entry of `pages` per page. */
export function writePdf(pages: PdfLine[][], options: PdfOptions = {}): Buffer {
  const lock = options.userPassword === undefined ? null : createLock(options.userPassword);
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const stream = (number: number, dictionary: string, content: string): string => {
    const bytes = lock ? lock.encrypt(number, Buffer.from(content, 'latin1')).toString('latin1') : content;
    return `<< ${dictionary} /Length ${bytes.length} >>\nstream\n${bytes}\nendstream`;
  };

  add('<< /Type /Catalog /Pages 2 0 R >>');
  const kids = pages.map((_, i) => `${6 + i * 2} 0 R`).join(' ');
  add(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>');
  const formContent = '/Fm Do /Fm Do';
  const formDictionary =
    '/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /Fm 5 0 R >> >>';
  add(stream(5, formDictionary, options.selfRecursiveForm ? formContent : ''));
  const pictures = options.pictures ?? [];
  const firstPicture = 6 + pages.length * 2;
  pages.forEach((lines, page) => {
    const shown = pictures.flatMap((picture, i) => (picture.page === page ? [{ ...picture, i }] : []));
    const named = shown.map(({ i }) => `/Im${i} ${firstPicture + i} 0 R`).join(' ');
    const resources = `<< /Font << /F1 3 0 R /F2 4 0 R >> /XObject << /Fm 5 0 R ${named} >> >>`;
    const drawn = shown
      .map(({ i, x, y, side, rise = side }) => `\nq ${side} 0 0 ${rise} ${x} ${y} cm /Im${i} Do Q`)
      .join('');
    const contents = objects.length + 2;
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources ${resources} /Contents ${contents} 0 R >>`,
    );
    add(stream(contents, '', drawLines(lines) + drawn + (options.selfRecursiveForm ? '\n/Fm Do' : '')));
  });
  for (const { width, height, pixels } of pictures) {
    const kind = '/Type /XObject /Subtype /Image /ColorSpace /DeviceRGB /BitsPerComponent 8';
    const packed = deflateSync(pixels).toString('latin1');
    add(stream(objects.length + 1, `${kind} /Width ${width} /Height ${height} /Filter /FlateDecode`, packed));
  }
  return assemble(objects, lock);
}

function drawLines(lines: PdfLine[]): string {
  let y = 780;
  const drawn = lines.map((line) => {
    const size = line.size ?? 11;
    y -= size * 1.4;
    const text = line.text.replace(/[\\()]/g, '\\$&');
    return `BT /${line.bold ? 'F2' : 'F1'} ${size} Tf 1 0 0 1 ${line.x ?? 60} ${(line.y ?? y).toFixed(2)} Tm (${text}) Tj ET`;
  });
  return drawn.join('\n');
}

function assemble(objects: string[], lock: PdfLock | null): Buffer {
  let out = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const offsets = objects.map((body, i) => {
    const offset = out.length;
    out += `${i + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = out.length;
  out += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  out += offsets.map((o) => `${String(o).padStart(10, '0')} 00000 n \n`).join('');
  out += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${lock?.trailer ?? ''} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(out, 'latin1');
}

interface PdfLock {
  trailer: string;
  encrypt(objectNumber: number, data: Buffer): Buffer;
}

/** Standard security handler, revision 2 (PDF 1.7 reference, section 3.5.2, algorithms 3.1 to 3.4). */
function createLock(userPassword: string): PdfLock {
  const id = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
  const pad = (password: string): Buffer =>
    Buffer.concat([Buffer.from(password, 'latin1'), PADDING]).subarray(0, 32);
  const md5 = (...parts: Buffer[]): Buffer => createHash('md5').update(Buffer.concat(parts)).digest();
  const owner = rc4(md5(pad('owner')).subarray(0, 5), pad(userPassword));
  const permissions = Buffer.from([0xfc, 0xff, 0xff, 0xff]);
  const key = md5(pad(userPassword), owner, permissions, id).subarray(0, 5);
  const user = rc4(key, PADDING);
  const hex = (bytes: Buffer): string => `<${bytes.toString('hex')}>`;
  return {
    trailer: `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${hex(owner)} /U ${hex(user)} /P -4 >> /ID [${hex(id)} ${hex(id)}]`,
    encrypt(objectNumber, data) {
      const salt = Buffer.from([
        objectNumber & 255,
        (objectNumber >> 8) & 255,
        (objectNumber >> 16) & 255,
        0,
        0,
      ]);
      return rc4(md5(key, salt).subarray(0, 10), data);
    },
  };
}

/** OpenSSL 3 no longer offers RC4 by default; twelve lines do. */
function rc4(key: Buffer, data: Buffer): Buffer {
  const s = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + s[i]! + key[i % key.length]!) & 255;
    [s[i], s[j]] = [s[j]!, s[i]!];
  }
  let a = 0;
  let b = 0;
  return Buffer.from(data).map((byte) => {
    a = (a + 1) & 255;
    b = (b + s[a]!) & 255;
    [s[a], s[b]] = [s[b]!, s[a]!];
    return byte ^ s[(s[a]! + s[b]!) & 255]!;
  }) as Buffer;
}
