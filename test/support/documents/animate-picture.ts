import { crc32 } from 'node:zlib';

/** A GIF that shows its one picture twice. */
export function animatedGif(still: Buffer): Buffer {
  const table = still[10]! & 0x80 ? 3 * 2 ** ((still[10]! & 7) + 1) : 0;
  const start = 13 + table;
  const frame = still.subarray(start, -1);
  return Buffer.concat([still.subarray(0, start), frame, frame, still.subarray(-1)]);
}

/** An animated WebP (RFC 9649, 2.7) that shows a lossless picture twice. */
export function animatedWebp(still: Buffer): Buffer {
  const bits = still.readUInt32LE(21);
  const size = Buffer.alloc(6);
  size.writeUIntLE(bits & 0x3fff, 0, 3);
  size.writeUIntLE((bits >>> 14) & 0x3fff, 3, 3);
  const frame = riffChunk(
    'ANMF',
    Buffer.concat([Buffer.alloc(6), size, Buffer.from([100, 0, 0, 0]), still.subarray(12)]),
  );
  const extended = riffChunk('VP8X', Buffer.concat([Buffer.from([0x02, 0, 0, 0]), size]));
  const body = Buffer.concat([
    Buffer.from('WEBP'),
    extended,
    riffChunk('ANIM', Buffer.alloc(6)),
    frame,
    frame,
  ]);
  return riffChunk('RIFF', body);
}

function riffChunk(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

/** A PNG that says it has two pictures; the second one is not there. */
export function animatedPng(still: Buffer): Buffer {
  const afterHeader = 8 + 12 + 13;
  const body = Buffer.concat([Buffer.from('acTL'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])]);
  const chunk = Buffer.alloc(4 + body.length + 4);
  chunk.writeUInt32BE(body.length - 4);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), 4 + body.length);
  return Buffer.concat([still.subarray(0, afterHeader), chunk, still.subarray(afterHeader)]);
}
