import { open } from 'node:fs/promises';
import { constants, inflateSync } from 'node:zlib';

const BLOCK = 1024 * 1024;
/** A map from codes to Unicode is small; a window holds its dictionary and its stream. */
const WINDOW = 64 * 1024;
const MAX_STREAMS = 20_000;
/** What other streams have in their dictionaries, and these maps have not. */
const OTHER_STREAM = /\/(?:Subtype|Length[123]|BBox|First|Width|XRef|Metadata)\b/;
/** `<D835DC00>`: the first half of a pair, and the second. */
const PAIR = /<\s*(?:[0-9a-f]{4}\s*)*d[89ab][0-9a-f]{2}\s*d[c-f][0-9a-f]{2}/i;

/**
 * Whether a font of the PDF maps its signs to characters beyond U+FFFF (mathematical letters, rare Han, emoji), which
 * liteparse drops without a trace. Looks at the fonts' maps only, wherever they stand; not into encrypted files.
 */
export async function mapsBeyondBmp(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    let looked = 0;
    for (let at = 0; at < size; at += BLOCK) {
      const length = Math.min(BLOCK + WINDOW, size - at);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      const bytes = buffer.subarray(0, bytesRead);
      for (let found = bytes.indexOf('stream'); found >= 0 && found < BLOCK;) {
        if (bytes.subarray(found - 3, found).toString('latin1') !== 'end') {
          if (++looked > MAX_STREAMS) return false;
          if (isPairMap(bytes, found)) return true;
        }
        found = bytes.indexOf('stream', found + 6);
      }
    }
    return false;
  } finally {
    await file.close();
  }
}

function isPairMap(bytes: Buffer, keyword: number): boolean {
  const before = bytes.subarray(Math.max(0, keyword - 256), keyword).toString('latin1');
  const dictionary = before.slice(before.lastIndexOf(' obj') + 1);
  if (OTHER_STREAM.test(dictionary)) return false;
  const start = keyword + 6 + (bytes[keyword + 6] === 13 ? 2 : 1);
  const packed = bytes.subarray(start, start + WINDOW);
  if (!/\/FlateDecode\b/.test(dictionary)) return isPairText(packed.toString('latin1'));
  const head = inflated(packed.subarray(0, 512));
  return head.includes('begincmap') || head.includes('CIDInit') ? isPairText(inflated(packed)) : false;
}

function isPairText(text: string): boolean {
  const end = text.indexOf('endstream');
  const map = end < 0 ? text : text.slice(0, end);
  return map.includes('begincmap') && PAIR.test(map);
}

/** As far as the bytes go. */
function inflated(packed: Buffer): string {
  try {
    return inflateSync(packed, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: 4 * 1024 * 1024,
    }).toString('latin1');
  } catch {
    return '';
  }
}
