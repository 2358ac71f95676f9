import { readPictureFormat } from '../pictures/picture-format.js';

/** Width and height that a picture other than a TIFF declares, without decoding it; null when they cannot be read. */
export function imageSize(bytes: Buffer): { width: number; height: number } | null {
  const known = readPictureFormat(bytes);
  if (known !== null) return known;
  try {
    const size = bmpSize(bytes);
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
