/** A picture in one of the formats that vision models take. */
export interface PictureFormat {
  mimetype: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  width: number;
  height: number;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * What a picture is by its own first bytes, whatever it is called; null when it is none of the four formats or its
 * size cannot be read. Nothing is decoded. Sources: PNG (RFC 2083, section 3.2), JPEG (ITU T.81, annex B), GIF89a,
 * WebP (RFC 9649, section 2).
 */
export function readPictureFormat(bytes: Buffer): PictureFormat | null {
  if (bytes.length < 30) return null;
  if (bytes.subarray(0, 8).equals(PNG) && bytes.toString('latin1', 12, 16) === 'IHDR')
    return sized('image/png', bytes.readUInt32BE(16), bytes.readUInt32BE(20));
  const head = bytes.toString('latin1', 0, 6);
  if (head === 'GIF87a' || head === 'GIF89a')
    return sized('image/gif', bytes.readUInt16LE(6), bytes.readUInt16LE(8));
  if (bytes.readUInt16BE(0) === 0xffd8) return jpegFormat(bytes);
  if (head.startsWith('RIFF') && bytes.toString('latin1', 8, 12) === 'WEBP') return webpFormat(bytes);
  return null;
}

function sized(mimetype: PictureFormat['mimetype'], width: number, height: number): PictureFormat | null {
  return width > 0 && height > 0 ? { mimetype, width, height } : null;
}

/** Walks the segments up to the frame header, which holds the size. */
function jpegFormat(bytes: Buffer): PictureFormat | null {
  for (let at = 2; at + 9 <= bytes.length;) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at += 1; // a fill byte
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return sized('image/jpeg', bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

function webpFormat(bytes: Buffer): PictureFormat | null {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return sized('image/webp', bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return sized('image/webp', (bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return sized('image/webp', bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return null;
  }
}
