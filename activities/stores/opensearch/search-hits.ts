import type { ChunkSource, HeadColumns } from './chunk-document.js';
import { readError } from './opensearch-errors.js';

interface Hit {
  _id: string;
  _source: ChunkSource;
}

/** Of a search that asks for columns and no stored document. */
export interface HeadHit {
  _score: number;
  fields: HeadColumns;
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
