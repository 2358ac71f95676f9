import { foldText, wordsOf } from '../../text/fold-text.js';
import { isStopWord } from '../../text/stop-words.js';

/** Length of the vectors of `builtin/hash-1024`. A power of two: positions are cut out of a hash by a mask. */
export const HASH_DIMENSION = 1024;

/**
 * Chosen on Cranfield and PIAF together; vectors alone give nDCG@10 0.313 and 0.675 (words alone 0.294 / 0.629, grams
 * alone 0.298 / 0.657). The figures are flat around these values.
 * `stopWord` is a factor on the word and letter features of stop words.
 */
const WEIGHTS = { word: 1, pair: 0.3, gram: 0.5, stopWord: 0.1 };

const GRAM = 4;
/** Scripts written without spaces carry a word in about two letters. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/;
const UNSPACED_GRAM = 2;

/** Taken out once: under Jest each look at a global costs more than the hash itself. */
const { imul } = Math;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32-bit FNV-1a over UTF-16 units (http://www.isthe.com/chongo/tech/comp/fnv/), from a seed on. */
function fnv1a(text: string, start: number, end: number, seed: number): number {
  let hash = seed;
  for (let i = start; i < end; i++) hash = imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}

/** MurmurHash3's 32-bit finaliser: spreads FNV's weak low bits, and makes a second hash out of a first. */
function mix(value: number): number {
  let hash = value;
  hash = imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Seeds keep the word `ment` and the letters `ment` of a longer word apart. */
const SEED = { word: FNV_OFFSET, pair: mix(1), gram: mix(2), symbol: mix(3) };
const SECOND_HASH = 0x9e3779b9;

/** Occurrences by feature hash. Two features that share a hash in 2^32 count as one; that changes nothing. */
type Counts = Map<number, number>;

function add(counts: Counts, key: number, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

function countGrams(counts: Counts, word: string, amount: number): void {
  const framed = `^${word}$`;
  const length = UNSPACED.test(word.charAt(0)) ? UNSPACED_GRAM : GRAM;
  const last = Math.max(framed.length - length, 0);
  for (let i = 0; i <= last; i++)
    add(counts, fnv1a(framed, i, Math.min(i + length, framed.length), SEED.gram), amount);
}

/**
 * Adds each feature to two positions with two signs: where one collides, the other seldom does
 * (signed feature hashing after Weinberger et al., 2009, https://arxiv.org/abs/0902.2206).
 * Counts weigh 1 + ln(count); below one (stop words only) they weigh what they are.
 */
function project(vector: Float64Array, counts: Counts, weight: number): void {
  const mask = HASH_DIMENSION - 1;
  for (const [key, count] of counts) {
    const value = weight * (count > 1 ? 1 + Math.log(count) : count);
    const first = mix(key);
    const second = mix(key ^ SECOND_HASH);
    vector[first & mask]! += first >>> 31 === 0 ? value : -value;
    vector[second & mask]! += second >>> 31 === 0 ? value : -value;
  }
}

function lengthOf(vector: Float64Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

/** A text without letter or digit is told by its symbols; one without anything by a fixed feature. */
function symbolCounts(folded: string): Counts {
  const counts: Counts = new Map();
  const symbols = folded.replace(/\s+/g, '');
  for (let i = 0; i < symbols.length; i++) add(counts, fnv1a(symbols, i, i + 1, SEED.symbol), 1);
  if (counts.size === 0) add(counts, SEED.symbol, 1);
  return counts;
}

/**
 * The vector of a text under signed feature hashing of its words, neighbouring word pairs and 4-letter grams.
 * Lexical, not semantic: near are texts that share words or parts of words. Unit length always, also for a
 * text without any letter, because the vector store refuses a zero vector under cosine. Linear in the text,
 * and the same on every machine: no locale, no randomness, integer hashes.
 */
export function hashVector(text: string): number[] {
  const folded = foldText(text);
  const words: Counts = new Map();
  const pairs: Counts = new Map();
  const grams: Counts = new Map();
  let previous: string | null = null;
  for (const word of wordsOf(folded)) {
    const stop = isStopWord(word);
    const amount = stop ? WEIGHTS.stopWord : 1;
    add(words, fnv1a(word, 0, word.length, SEED.word), amount);
    countGrams(grams, word, amount);
    if (stop) continue;
    // Pairs step over stop words: `loi sur l'eau` and `loi de l'eau` share theirs.
    if (previous !== null)
      add(pairs, fnv1a(word, 0, word.length, mix(fnv1a(previous, 0, previous.length, SEED.pair))), 1);
    previous = word;
  }
  const vector = new Float64Array(HASH_DIMENSION);
  project(vector, words, WEIGHTS.word);
  project(vector, pairs, WEIGHTS.pair);
  project(vector, grams, WEIGHTS.gram);
  if (lengthOf(vector) === 0) project(vector, symbolCounts(folded), 1);
  let length = lengthOf(vector);
  if (length === 0) {
    // Signs cancelled out to the last digit; any fixed direction will do.
    vector[0] = 1;
    length = 1;
  }
  return Array.from(vector, (value) => value / length);
}
