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

/** @throws AppError for an answer that is an error */
export function hitsOf<Found = Hit>(answer: SearchAnswer<Found>): Found[] {
  if (answer.error !== undefined) throw readError(answer);
  return answer.hits?.hits ?? [];
}
