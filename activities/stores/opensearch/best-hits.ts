import { headOf, headsOnly } from './chunk-document.js';
import type { HeadHit } from './chunk-document.js';
import type { ChunkHead } from '../../ports/chunks.js';

/** The group of the engine's statistics that searches of people and models are counted in. */
export const SEARCHES = 'searches';

/** More hits than are wanted: so many may share the last one's score before the engine has to tell them apart. */
const SPARE = 10;

export interface ScoredHead {
  chunk: ChunkHead;
  score: number;
}

interface Wanted {
  size: number;
  traits: boolean;
}

/** The search for the best hits by their scores alone. */
export function bestHits(query: object, { size, traits }: Wanted): object {
  return { size: size + SPARE, stats: [SEARCHES], ...headsOnly({ traits }), query };
}

/** The same in the engine's order of scores and places. */
export function bestHitsByPlace(query: object, { size, traits }: Wanted): object {
  return { size, stats: [SEARCHES], ...headsOnly({ traits, placed: true }), query };
}

/**
 * What `bestHits` found, equal scores in the order of their places. Null where that cannot be told, since hits of the
 * last one's score may have been left out.
 */
export function inPlace(
  hits: readonly HeadHit[],
  { size }: Wanted,
  scoreOf: (score: number) => number,
): ScoredHead[] | null {
  const last = hits.length < size + SPARE ? -Infinity : hits.at(-1)!._score;
  const sure = hits.filter(({ _score: score }) => score > last);
  if (sure.length < size && sure.length < hits.length) return null;
  return sortHeads(sure.map((hit) => ({ chunk: headOf(hit), score: scoreOf(hit._score) }))).slice(0, size);
}

/** Best first, equal scores by what belongs to the chunk. */
export function sortHeads(heads: ScoredHead[]): ScoredHead[] {
  return heads.sort(
    (one, other) =>
      other.score - one.score ||
      compare(one.chunk.file_key, other.chunk.file_key) ||
      one.chunk.generation - other.chunk.generation ||
      one.chunk.position - other.chunk.position,
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
