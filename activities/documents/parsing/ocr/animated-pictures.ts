import { readPictureFormat } from '../pictures/picture-format.js';

const PNG_SIGNATURE_LENGTH = 8;
const GIF_HEADER_LENGTH = 13;
const RIFF_HEADER_LENGTH = 12;
const CHUNK_HEADER_LENGTH = 8;
/** What an `ANMF` chunk says of its frame before the chunks of the frame: place, size, duration, flags. */
const FRAME_HEADER_LENGTH = 16;
const ALPHA_FLAG = 0x10;

/** The first picture of an animated one, and how many there are. */
export interface Animation {
  frames: number;
  /** The bytes as they are, where readers of one picture take the first of several. */
  first: Buffer;
}

/**
 * The frames of a GIF, an animated PNG or an animated WebP, counted without decoding them; null for anything that
 * stands still. What is damaged is counted up to there. Sources: GIF89a; PNG, third edition, 11.3.4; RFC 9649, 2.7.
 */
export function readAnimation(bytes: Buffer): Animation | null {
  const animation = framesOf(bytes);
  return animation.frames <= 1 ? null : animation;
}

function framesOf(bytes: Buffer): Animation {
  switch (readPictureFormat(bytes)?.mimetype) {
    case 'image/gif':
      return { frames: countGif(bytes), first: bytes };
    case 'image/png':
      return { frames: countPng(bytes), first: bytes };
    case 'image/webp':
      return readWebp(bytes);
    default:
      return { frames: 1, first: bytes };
  }
}

function countGif(bytes: Buffer): number {
  const tableLength = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  /** Behind the blocks of data that begin here: each begins with its length, an empty one ends them. */
  const behindData = (from: number): number => {
    let at = from;
    while (at < bytes.length && bytes[at] !== 0) at += 1 + bytes[at]!;
    return at + 1;
  };
  let count = 0;
  let at = GIF_HEADER_LENGTH + tableLength(bytes[10] ?? 0);
  while (at < bytes.length) {
    const block = bytes[at];
    if (block === 0x21) at = behindData(at + 2);
    else if (block === 0x2c) {
      count += 1;
      // Place and size, flags, its own table of colours, one byte for the decoder.
      at = behindData(at + 10 + tableLength(bytes[at + 9] ?? 0) + 1);
    } else break;
  }
  return count;
}

/** Its `acTL` chunk says how many there are, and stands before the picture that all readers show. */
function countPng(bytes: Buffer): number {
  let at = PNG_SIGNATURE_LENGTH;
  while (at + CHUNK_HEADER_LENGTH + 4 <= bytes.length) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'acTL') return bytes.readUInt32BE(at + CHUNK_HEADER_LENGTH);
    if (type === 'IDAT' || !/^[A-Za-z]{4}$/.test(type)) break;
    at += CHUNK_HEADER_LENGTH + bytes.readUInt32BE(at) + 4;
  }
  return 1;
}

/** Readers of one picture refuse an animated WebP: its first frame is made one of its own. */
function readWebp(bytes: Buffer): Animation {
  let frames = 0;
  let first: Buffer | undefined;
  let at = RIFF_HEADER_LENGTH;
  while (at + CHUNK_HEADER_LENGTH <= bytes.length) {
    const length = bytes.readUInt32LE(at + 4);
    if (bytes.toString('latin1', at, at + 4) === 'ANMF') {
      frames += 1;
      first ??= stillWebp(bytes.subarray(at + CHUNK_HEADER_LENGTH, at + CHUNK_HEADER_LENGTH + length));
    }
    at += CHUNK_HEADER_LENGTH + length + (length % 2);
  }
  return { frames, first: first ?? bytes };
}

function stillWebp(frame: Buffer): Buffer {
  const chunks = frame.subarray(FRAME_HEADER_LENGTH);
  const hasAlpha = chunks.toString('latin1', 0, 4) === 'ALPH';
  // Width and height are three bytes each, less one, as in the header that a picture with an alpha channel has.
  const size = frame.subarray(6, 12);
  const header = Buffer.from([0x56, 0x50, 0x38, 0x58, 10, 0, 0, 0, ALPHA_FLAG, 0, 0, 0, ...size]);
  const body = Buffer.concat([Buffer.from('WEBP'), ...(hasAlpha ? [header] : []), chunks]);
  const riff = Buffer.alloc(8);
  riff.write('RIFF', 'latin1');
  riff.writeUInt32LE(body.length, 4);
  return Buffer.concat([riff, body]);
}
