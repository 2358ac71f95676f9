import {
  BM25_LENGTH_SHARE,
  BM25_MEAN_LENGTH,
  BM25_SATURATION,
  inverseDocumentFrequency,
} from '../../text/bm25.js';
import { countStems } from '../../text/stem-counts.js';
import type { StemCounts } from '../../text/stem-counts.js';
import { scaleScores } from './fusion.js';
import type { FusedHit } from './fusion.js';

/** Hits whose words are looked for: ten of forty, fewer of fewer. */
const SPEAKERS_SHARE = 0.25;
/** Words that are looked for. */
const WORDS = 20;
/** Texts in which they are looked for at most, the first of the ranking. */
const COMPARED = 50;
/** Share of these words in the score. */
const SHARE = 0.3;
/** Of a text; what stands further on is not looked at. */
const MAX_CHARACTERS = 4_000;

/**
 * Texts that are read for it, the first before feedback by vectors. The engine takes each stored document apart with
 * its vector: with a hundred of them a search took 38 ms instead of 28 without this, with forty 34 instead of 31.
 */
export const TEXTS_READ = 40;

export interface WordFeedback {
  /** What was looked for, heaviest first. */
  words: { word: string; weight: number }[];
  /** What each hit scored by them, 1 the best. */
  scores: FusedHit[];
  ranking: FusedHit[];
}

interface Candidate {
  id: string;
  counts: StemCounts;
}

function rarityAmong(candidates: readonly Candidate[]): (word: string) => number {
  const holding = new Map<string, number>();
  for (const { counts } of candidates)
    for (const word of counts.stems.keys()) holding.set(word, (holding.get(word) ?? 0) + 1);
  return (word) => inverseDocumentFrequency(holding.get(word) ?? 0, candidates.length);
}

/** The words by which the best hits stand out: those that are said often, early in the ranking, and by few others. */
function wordsOf(speakers: readonly Candidate[], rarity: (word: string) => number): [string, number][] {
  const weights = new Map<string, number>();
  for (const [place, { counts }] of speakers.entries())
    for (const [word, times] of counts.stems)
      weights.set(word, (weights.get(word) ?? 0) + times / counts.counted / (place + 1));
  return [...weights]
    .map(([word, weight]): [string, number] => [word, weight * rarity(word)])
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, WORDS);
}

function scoreOf({ stems, words }: StemCounts, asked: readonly [string, number][]): number {
  const length = BM25_SATURATION * (1 - BM25_LENGTH_SHARE + (BM25_LENGTH_SHARE * words) / BM25_MEAN_LENGTH);
  let score = 0;
  for (const [word, weight] of asked) {
    const times = stems.get(word) ?? 0;
    if (times > 0) score += (weight * times) / (times + length);
  }
  return score;
}

/**
 * Pseudo-relevance feedback on words: candidates that use the words of the ten best hits are moved up (RM3,
 * Abdul-Jaleel et al., UMass at TREC 2004, with 1 / rank in place of the likelihood of the question). Only texts that
 * were found are looked at, so nothing is told of what else the index holds, and nothing more is asked of it.
 *
 * score' = 0.7 · score + 0.3 · score by words, 0 to 1; 0 by words where there is no text, which is so of what came late
 * in the ranking.
 *
 * nDCG@10 worked out on the legs of a search with all-MiniLM, without and with: Cranfield 0.462, 0.469; by abstracts
 * 0.431, 0.444; PIAF 0.830, 0.831; by paragraphs 0.726, 0.739; FAQ-en 0.778, 0.777; FAQ-fr 0.548, 0.553. With all texts
 * read, before fifty of them are compared: 0.472, 0.445, 0.832, 0.747, 0.776, 0.552. Both halves of the questions gain
 * on Cranfield and PIAF by paragraphs. The rarity of a word in the whole partition does no better than among these.
 *
 * @param texts by id
 * @returns null: nothing is to be gained
 */
export function wordFeedback(
  ranking: readonly FusedHit[],
  texts: ReadonlyMap<string, string>,
): WordFeedback | null {
  const candidates = ranking
    .filter(({ id }) => texts.has(id))
    .slice(0, COMPARED)
    .map(({ id }): Candidate => ({ id, counts: countStems(texts.get(id)!.slice(0, MAX_CHARACTERS)) }));
  if (candidates.length < 2) return null;
  const rarity = rarityAmong(candidates);
  const words = wordsOf(candidates.slice(0, Math.ceil(SPEAKERS_SHARE * candidates.length)), rarity);
  const asked = words.map(([word, weight]): [string, number] => [word, weight * rarity(word)]);
  const raw = candidates.map(({ id, counts }) => ({ id, score: scoreOf(counts, asked) }));
  if (!raw.some(({ score }) => score > 0)) return null;
  const scores = scaleScores(raw);
  const byWords = new Map(scores.map(({ id, score }) => [id, score]));
  return {
    words: words.map(([word, weight]) => ({ word, weight })),
    scores,
    ranking: ranking
      .map(({ id, score }) => ({ id, score: (1 - SHARE) * score + SHARE * (byWords.get(id) ?? 0) }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)),
  };
}
