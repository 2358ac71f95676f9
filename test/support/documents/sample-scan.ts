import { inflateSync } from 'node:zlib';
import { LiteParse } from '@llamaindex/liteparse';
import { writePdf } from './write-pdf.js';
import type { PdfLine } from './write-pdf.js';

/** Red, green and blue, a byte each, row by row from the top. */
export interface Scan {
  width: number;
  height: number;
  pixels: Buffer;
}

/** A page of text as a scanner sees it, as PNG. */
export async function scanPng(lines: PdfLine[], dpi = 150): Promise<Buffer> {
  const reader = new LiteParse({ ocrEnabled: false, quiet: true, dpi });
  const [page] = await reader.screenshot(writePdf([lines]), [1]);
  return page!.imageBuffer;
}

/** The pixels of a PNG of 8 bits a channel that is not interlaced. */
export function decodePng(png: Buffer): Scan {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = { 0: 1, 2: 3, 6: 4 }[png[25]!];
  if (png[24] !== 8 || channels === undefined) throw new Error('no PNG that this reads');
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]!;
    for (let x = 0; x < stride; x++) {
      const left = x < channels ? 0 : rows[y * stride + x - channels]!;
      const up = y === 0 ? 0 : rows[(y - 1) * stride + x]!;
      const corner = y === 0 || x < channels ? 0 : rows[(y - 1) * stride + x - channels]!;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
      rows[y * stride + x] = raw[y * (stride + 1) + 1 + x]! + guess;
    }
  }
  const pixels = Buffer.alloc(width * height * 3);
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 3; c++) pixels[i * 3 + c] = rows[i * channels + (channels === 1 ? 0 : c)]!;
  return { width, height, pixels };
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** 24 bits, rows from below. */
export function writeBmp({ width, height, pixels }: Scan): Buffer {
  const stride = Math.ceil((width * 3) / 4) * 4;
  const bmp = Buffer.alloc(54 + stride * height);
  bmp.write('BM', 'latin1');
  bmp.writeUInt32LE(bmp.length, 2);
  bmp.writeUInt32LE(54, 10);
  bmp.writeUInt32LE(40, 14);
  bmp.writeInt32LE(width, 18);
  bmp.writeInt32LE(height, 22);
  bmp.writeUInt16LE(1, 26);
  bmp.writeUInt16LE(24, 28);
  for (let y = 0; y < height; y++)
    pixels.copy(bmp, 54 + (height - 1 - y) * stride, y * width * 3, (y + 1) * width * 3);
  return bmp;
}

/** The upper part of a scan. */
export function cropScan({ width, height, pixels }: Scan, share: number): Scan {
  const rows = Math.ceil(height * share);
  return { width, height: rows, pixels: pixels.subarray(0, rows * width * 3) };
}

const NOWHERE = 0xfffffff0;
const DIRECTORY_TAGS = 9;
const DIRECTORY_BYTES = 2 + DIRECTORY_TAGS * 12 + 4;

/** Where the directory of each picture of such a TIFF stands. */
function directoriesOf(scans: readonly Scan[]): number[] {
  let at = 8;
  return scans.map(({ pixels }) => {
    const directory = at + pixels.length;
    at = directory + DIRECTORY_BYTES;
    return directory;
  });
}

/** Uncompressed, a page each; one without pixels says that they stand behind the end of the file. */
export function writeTiff(scans: readonly Scan[]): Buffer {
  const directories = directoriesOf(scans);
  const parts = scans.flatMap(({ width, height, pixels }, page) => {
    const tags = [
      [256, width],
      [257, height],
      [258, 8],
      [259, 1],
      [262, 2],
      [273, pixels.length === 0 ? NOWHERE : directories[page]! - pixels.length],
      [277, 3],
      [278, height],
      [279, pixels.length],
    ] as const;
    const directory = Buffer.alloc(DIRECTORY_BYTES);
    directory.writeUInt16LE(DIRECTORY_TAGS, 0);
    tags.forEach(([tag, value], i) => {
      directory.writeUInt16LE(tag, 2 + i * 12);
      directory.writeUInt16LE(4, 4 + i * 12);
      directory.writeUInt32LE(1, 6 + i * 12);
      directory.writeUInt32LE(value, 10 + i * 12);
    });
    directory.writeUInt32LE(directories[page + 1] ?? 0, DIRECTORY_BYTES - 4);
    return [pixels, directory];
  });
  const head = Buffer.from('49492a0000000000', 'hex');
  head.writeUInt32LE(directories[0]!, 4);
  return Buffer.concat([head, ...parts]);
}
