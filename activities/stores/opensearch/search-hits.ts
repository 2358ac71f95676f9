import { AppError } from '../../../schemas/app-error.js';
import type { ChunkSource } from './chunk-document.js';
import { readError } from './opensearch-errors.js';

interface Hit {
  _id: string;
  _source: ChunkSource;
}

/** What the engine answers to a search, or to one of many. */
export interface SearchAnswer<Found = Hit> {
  status?: number;
  error?: unknown;
  hits?: { hits: Found[] };
}

interface Reach {
  timed_out?: boolean;
  _shards?: { total: number; successful: number; failed: number };
}

/**
 * Whether an answer lacks what some shards hold: the engine answers a search from those that it reaches, and does not
 * count one without a node among the failed. A partition is in one shard, which its absence would make empty.
 */
export function isPartial(answer: object): boolean {
  const { timed_out: timedOut, _shards: shards } = answer as Reach;
  if (timedOut === true) return true;
  return shards !== undefined && (shards.failed > 0 || shards.successful < shards.total);
}

/** @throws AppError for an answer that is an error */
export function hitsOf<Found = Hit>(answer: SearchAnswer<Found>): Found[] {
  if (answer.error !== undefined) throw readError(answer);
  if (isPartial(answer)) throw new AppError('VDB_CONNECTION_ERROR');
  return answer.hits?.hits ?? [];
}
