import { crc32, deflateSync } from 'node:zlib';

/** Uncompressed pixels, row by row from the top. */
export interface Bitmap {
  width: number;
  height: number;
  /** 1: one bit, white is 1, rows begin at a byte. 3: red, green, blue. 4: with opacity. 3 and 4: a byte each. */
  channels: 1 | 3 | 4;
  data: Uint8Array;
}

/** Vision models look at about so much; more is only bytes. */
const ENOUGH_PIXELS = 2_500_000;
const COLOUR_TYPE = { 1: 0, 3: 2, 4: 6 } as const;

/** A bitmap as PNG (RFC 2083), made smaller by a whole factor where it is larger than a model looks at. */
export function writePng(bitmap: Bitmap): Buffer {
  const { width, height, channels, data } = shrink(bitmap);
  const stride = channels === 1 ? Math.ceil(width / 8) : width * channels;
  const rows = Buffer.alloc(height * (stride + 1)); // each row begins with its filter, 0: none
  for (let y = 0; y < height; y++)
    rows.set(data.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = channels === 1 ? 1 : 8; // bits of a channel
  header[9] = COLOUR_TYPE[channels];
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

/** Each pixel the mean of a square of the old ones; a picture of bits is small as it is. */
function shrink(bitmap: Bitmap): Bitmap {
  const { channels, data } = bitmap;
  const factor = Math.ceil(Math.sqrt((bitmap.width * bitmap.height) / ENOUGH_PIXELS));
  const width = Math.floor(bitmap.width / factor);
  const height = Math.floor(bitmap.height / factor);
  if (channels === 1 || factor === 1 || width === 0 || height === 0) return bitmap;
  const small = new Uint8Array(width * height * channels);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < channels; channel++, at++) {
        let sum = 0;
        for (let dy = 0; dy < factor; dy++) {
          const row = ((y * factor + dy) * bitmap.width + x * factor) * channels + channel;
          for (let dx = 0; dx < factor; dx++) sum += data[row + dx * channels]!;
        }
        small[at] = sum / (factor * factor);
      }
    }
  }
  return { width, height, channels, data: small };
}
