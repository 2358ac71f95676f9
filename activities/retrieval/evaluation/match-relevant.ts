import type { RelevantItem } from '../../../schemas/retrieval/evaluation.js';
import { foldText, wordsOf } from '../../text/fold-text.js';
import { spacedOut } from '../../text/unspaced-scripts.js';
import type { Grades } from './measures.js';

/** A piece of text that was found or cited. */
export interface FoundText {
  chunkId: string;
  fileId: string;
  text: string;
}

/** Words in a row that are compared; a passage of fewer is looked for as a whole. */
const RUN = 3;
/** Of a passage so much must stand in a chunk: cuts run through passages. */
const ENOUGH = 0.5;

function runsOf(words: readonly string[], length: number): string[] {
  return words.slice(length - 1).map((_, index) => words.slice(index, index + length).join(' '));
}

function wordsIn(text: string): string[] {
  return wordsOf(foldText(spacedOut(text)));
}

/** Whether a passage can be looked for: one without a letter or a digit would be found everywhere. */
export function isSearchable(passage: string): boolean {
  return wordsOf(foldText(passage)).length > 0;
}

interface Passage {
  length: number;
  runs: string[];
}

function passageOf(text: string): Passage {
  const words = wordsIn(text);
  const length = Math.min(RUN, words.length);
  return { length, runs: [...new Set(runsOf(words, length))] };
}

/** Items that a text holds, as places in the list. */
export type Matcher = (found: FoundText) => number[];

/**
 * Says which relevant items a chunk holds: a file by its id, and a passage where at least half of its runs of three
 * words stand in the chunk, whatever case, accents and punctuation.
 */
export function matcherOf(relevant: readonly RelevantItem[]): Matcher {
  const passages = relevant.map(({ passage }) => (passage === null ? null : passageOf(passage)));
  const lengths = new Set(passages.flatMap((passage) => passage?.length ?? []));
  return ({ fileId, text }) => {
    const words = lengths.size === 0 ? [] : wordsIn(text);
    const runs = new Map([...lengths].map((length) => [length, new Set(runsOf(words, length))]));
    return relevant.flatMap(({ file_id: wanted }, index) => {
      if (wanted !== null && wanted !== fileId) return [];
      const passage = passages[index] ?? null;
      if (passage === null) return [index];
      const there = passage.runs.filter((run) => runs.get(passage.length)!.has(run)).length;
      return there >= ENOUGH * passage.runs.length ? [index] : [];
    });
  };
}

/**
 * A ranking of chunks as one of judged items. Where whole files are judged, a file stands where its best chunk does;
 * where passages are, a chunk that holds one stands for it the first time, and every other chunk for itself. Of several
 * in one chunk each takes a rank, the best first: the order in which they were judged says nothing of the ranking.
 */
export function rankRelevant(
  relevant: readonly RelevantItem[],
  found: readonly FoundText[],
): { ranked: string[]; grades: Grades } {
  if (relevant.every(({ passage }) => passage === null))
    return {
      ranked: [...new Set(found.map(({ fileId }) => fileId))],
      grades: new Map(relevant.map(({ file_id: fileId, grade }) => [fileId ?? '', grade])),
    };
  const match = matcherOf(relevant);
  const seen = new Set<number>();
  const ranked = found.flatMap((chunk) => {
    const added = match(chunk)
      .filter((index) => !seen.has(index))
      .sort((one, other) => relevant[other]!.grade - relevant[one]!.grade);
    for (const index of added) seen.add(index);
    return added.length > 0 ? added.map(itemId) : [`chunk/${chunk.chunkId}`];
  });
  return { ranked, grades: new Map(relevant.map(({ grade }, index) => [itemId(index), grade])) };
}

function itemId(index: number): string {
  return `item/${index}`;
}
