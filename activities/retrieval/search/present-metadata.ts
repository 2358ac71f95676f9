import type { FileRecord, FileVersion, Metadata } from '../../../schemas/documents/documents.js';
import { formatFileSize } from '../../text/format-file-size.js';
import type { SearchResult } from './search-types.js';

/**
 * Upstream numbers every chunk, formats without pages included, and clients show the number: absent or null they
 * print `undefined`. So whatever has no pages is one page.
 */
const ONLY_PAGE = 1;

/** An indexer front end in use splits extracts at this key's text; ours hold one page each, so it never occurs. */
const PAGE_SEPARATOR = '[PAGE_SEP]';

function round(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}

function versionKeys(file: FileRecord, version: FileVersion): Metadata {
  return {
    file_id: file.file_id,
    // The record's names, not the chunk's: a file may have been moved since.
    partition: file.partition,
    filename: version.filename,
    original_filename: version.original_filename,
    // Where upstream shows a path on its disk. A client's own `source` is a protected key, dropped at upload.
    source: version.filename,
    file_size: formatFileSize(version.size_bytes),
    content_sha256: version.content_sha256,
    indexed_at: version.indexed_at.toISOString(),
    ...(version.relationship_id !== null && { relationship_id: version.relationship_id }),
    ...(version.parent_id !== null && { parent_id: version.parent_id }),
  };
}

/** They say how an extract was found: never a client's word where one was searched for (wire contract 1.3). */
const SCORE_KEYS: ReadonlySet<string> = new Set(['rerank_score', 'vector_score', 'combined_score']);

function withoutScores(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !SCORE_KEYS.has(key)));
}

/**
 * Metadata of a chunk for search answers, extracts and chat sources (wire contract 1.3, 1.8, section 5): the
 * client's own keys, `created_at` among them, then the server's, which win. Scores are there when it was searched.
 */
export function presentChunkMetadata(
  result: Pick<SearchResult, 'chunk' | 'file' | 'version'> &
    Partial<Pick<SearchResult, 'score' | 'vectorScore' | 'rerankScore' | 'addedAs'>>,
): Metadata {
  const { chunk, file, version, score, vectorScore, rerankScore, addedAs } = result;
  return {
    ...(score === undefined ? version.metadata : withoutScores(version.metadata)),
    ...versionKeys(file, version),
    _id: chunk.chunk_id,
    page: chunk.page ?? ONLY_PAGE,
    page_sep: PAGE_SEPARATOR,
    chunk_type: chunk.chunk_type,
    section_id: chunk.section_id,
    prev_section_id: chunk.prev_section_id,
    next_section_id: chunk.next_section_id,
    ...(vectorScore != null && { vector_score: round(vectorScore) }),
    // What expansion added was not found by the text, so it has no score.
    ...(score !== undefined && addedAs === undefined && { combined_score: round(score) }),
    ...(rerankScore !== undefined && { rerank_score: round(rerankScore) }),
  };
}

/** Metadata of a file's live version; only the names of a file that has none. */
export function presentFileMetadata(file: FileRecord): Metadata {
  return file.live === null
    ? { file_id: file.file_id, partition: file.partition }
    : { ...file.live.metadata, ...versionKeys(file, file.live), page: ONLY_PAGE };
}
