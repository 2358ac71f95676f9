import { readPictureFormat } from '../pictures/picture-format.js';

const WIDTH_TAG = 256;
const HEIGHT_TAG = 257;
/** Of a TIFF's directory: more is damage. */
const MAX_TAGS = 1000;

/** Width and height that a picture declares, without decoding it; null when they cannot be read. */
export function imageSize(bytes: Buffer): { width: number; height: number } | null {
  const known = readPictureFormat(bytes);
  if (known !== null) return known;
  try {
    const size = bmpSize(bytes) ?? tiffSize(bytes);
    return size !== null && size.width > 0 && size.height > 0 ? size : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function bmpSize(bytes: Buffer): { width: number; height: number } | null {
  if (bytes.toString('latin1', 0, 2) !== 'BM') return null;
  // The oldest header has 16 bits each; a negative height means that rows run from the top.
  if (bytes.readUInt32LE(14) === 12) return { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) };
  return { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) };
}

/** Of the first picture. TIFF 6.0, section 2. */
function tiffSize(bytes: Buffer): { width: number; height: number } | null {
  const mark = bytes.toString('latin1', 0, 4);
  if (mark !== 'II*\0' && mark !== 'MM\0*') return null;
  const little = mark.startsWith('II');
  const short = (at: number): number => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number): number => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const directory = long(4);
  const size = { width: 0, height: 0 };
  for (let tag = 0; tag < Math.min(short(directory), MAX_TAGS); tag++) {
    const at = directory + 2 + tag * 12;
    const isShort = short(at + 2) === 3;
    const value = isShort ? short(at + 8) : long(at + 8);
    if (short(at) === WIDTH_TAG) size.width = value;
    if (short(at) === HEIGHT_TAG) size.height = value;
  }
  return size;
}

/** How many pictures a TIFF holds; 1 for anything else. */
export function imagePages(bytes: Buffer): number {
  const mark = bytes.toString('latin1', 0, 4);
  if (mark !== 'II*\0' && mark !== 'MM\0*') return 1;
  const little = mark.startsWith('II');
  const seen = new Set<number>();
  try {
    let at = little ? bytes.readUInt32LE(4) : bytes.readUInt32BE(4);
    while (at !== 0 && !seen.has(at) && seen.size < MAX_TAGS) {
      seen.add(at);
      const next = at + 2 + (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)) * 12;
      at = little ? bytes.readUInt32LE(next) : bytes.readUInt32BE(next);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return Math.max(1, seen.size);
}
