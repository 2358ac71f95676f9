import iconv from 'iconv-lite';
import jschardet from 'jschardet';

const WESTERN = 'windows-1252';
/** A guess at another encoding of Latin letters needs so many times the likelihood of the Western one. */
const CLEARLY_LIKELIER = 1.5;
const LIKELY = 0.05;
/** So likely an encoding of East Asia is believed where Latin letters touch its own: `5GHz帯`. */
const SURE = 0.18;

/** No accents follow each other so. */
const LONG_WORD = 3;
const WORD = /[\p{L}\p{M}]+/gu;
const LATIN = /\p{Script=Latin}/u;
const FOREIGN = /(?!\p{Script=Latin})\p{L}/gu;
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * The encoding of text that is no Unicode, by statistics; Western where nothing speaks against it. Of a few accents
 * statistics make any language, so that each guess is tried: a text in another script has words of it, while an accent
 * that is taken for a foreign letter stands alone or among Latin letters.
 */
export function guessEncoding(sample: Buffer): string {
  const bytes = aroundHighBytes(sample);
  const guesses = jschardet
    .detectAll(bytes)
    .map(({ encoding, confidence }) => ({ encoding: (encoding ?? 'ascii').toLowerCase(), confidence }))
    .filter(({ encoding }) => encoding !== 'ascii' && iconv.encodingExists(encoding));
  const words = withoutQuotationMarks(bytes);
  const western = guesses.find(({ encoding }) => encoding === WESTERN)?.confidence ?? 0;
  const believed = guesses.find(({ encoding, confidence }) => {
    if (encoding === WESTERN) return true;
    const text = iconv.decode(bytes, encoding);
    const foreign = text.match(FOREIGN)?.length ?? 0;
    if (foreign === 0) return confidence >= Math.max(LIKELY, western * CLEARLY_LIKELIER);
    if (confidence >= SURE && EAST_ASIAN.test(text)) return true;
    return isForeign(iconv.decode(words, encoding), foreign);
  });
  return believed?.encoding ?? WESTERN;
}

/** French has `«` and `»` with a no-break space, which are words of two letters in some encodings. */
function withoutQuotationMarks(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(/\u00ab\u00a0|\u00a0\u00bb/g, '  '), 'latin1');
}

/**
 * Whether letters of other scripts stand in words of their own. Where none stands among Latin ones, a single long word
 * is enough: tables have cells of one letter.
 */
function isForeign(text: string, letters: number): boolean {
  let inWords = 0;
  let isMixed = false;
  let longest = 0;
  for (const [word] of text.matchAll(WORD)) {
    const own = word.match(FOREIGN)?.length ?? 0;
    if (own === 0) continue;
    if (LATIN.test(word)) isMixed = true;
    else {
      longest = Math.max(longest, own);
      if (own > 1) inWords += own;
    }
  }
  return inWords > letters / 2 || (!isMixed && longest >= LONG_WORD);
}

/** Statistics go wrong where a few accents stand in much plain text: French came out as Czech. */
function aroundHighBytes(sample: Buffer): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (let i = 0; i < sample.length; i++) {
    if (sample[i]! < 0x80 || i < end) continue;
    parts.push(sample.subarray(Math.max(end, i - 24), i + 24));
    end = i + 24;
  }
  return Buffer.concat(parts);
}
