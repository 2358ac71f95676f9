import type { PdfEntries } from './pdf-dictionary.js';
import { inflate, readPdfWindows } from './pdf-streams.js';

/** A map from codes to Unicode is small; a window holds its dictionary and its stream. */
const WINDOW = 64 * 1024;
const MAX_STREAMS = 20_000;
/** What other streams have in their dictionaries, and these maps have not. */
const OTHER_KEYS = ['Subtype', 'Length1', 'Length2', 'Length3', 'BBox', 'First', 'Width', 'W', 'Metadata'];
/** `<D835DC00>`: the first half of a pair, and the second. */
const PAIR = /<\s*(?:[0-9a-f]{4}\s*)*d[89ab][0-9a-f]{2}\s*d[c-f][0-9a-f]{2}/i;

/**
 * Whether a font of the PDF maps its signs to characters beyond U+FFFF (mathematical letters, rare Han, emoji), which
 * liteparse drops without a trace. Looks at the fonts' maps only, wherever they stand; not into encrypted files.
 */
export async function mapsBeyondBmp(path: string): Promise<boolean> {
  let looked = 0;
  for await (const { streams } of readPdfWindows(path, WINDOW))
    for (const { dictionary, packed } of streams) {
      if (++looked > MAX_STREAMS) return false;
      if (isPairMap(dictionary, packed)) return true;
    }
  return false;
}

function isPairMap(dictionary: PdfEntries | null, packed: Buffer): boolean {
  if (OTHER_KEYS.some((key) => dictionary?.has(key))) return false;
  if (!/\/FlateDecode\b/.test(dictionary?.get('Filter') ?? '')) return isPairText(packed.toString('latin1'));
  const head = inflate(packed.subarray(0, 512)) ?? '';
  return head.includes('begincmap') || head.includes('CIDInit') ? isPairText(inflate(packed) ?? '') : false;
}

function isPairText(text: string): boolean {
  const end = text.indexOf('endstream');
  const map = end < 0 ? text : text.slice(0, end);
  return map.includes('begincmap') && PAIR.test(map);
}
