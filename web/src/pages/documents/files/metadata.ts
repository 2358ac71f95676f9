import { textOf } from '../queries';
import type { FileRow } from '../queries';

/** What the server writes; a change of these would be dropped without a word. */
const SERVER_KEYS = new Set(
  [
    'file_id',
    'partition',
    'filename',
    'original_filename',
    'source',
    'file_size',
    'content_sha256',
    'page',
  ].concat([
    'indexed_at',
    'link',
    'relationship_id',
    'parent_id',
    'page_sep',
    'degraded_stages',
    'created_by',
  ]),
);

export interface Pair {
  key: string;
  value: string;
}

export function pairsOf(file: FileRow): Pair[] {
  return Object.entries(file)
    .filter(([key]) => !SERVER_KEYS.has(key))
    .map(([key, value]) => ({ key, value: textOf(value) }));
}

/** A text keeps its kind: a year that was a number stays one, a new value is a text. */
function valueOf(text: string, former: unknown): unknown {
  if (typeof former === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (typeof former === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (typeof former !== 'object' || former === null) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The keys whose value is another than before. */
export function changesOf(file: FileRow, pairs: readonly Pair[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs
      .map(({ key, value }) => [key.trim(), value] as const)
      .filter(([key, value]) => key !== '' && textOf(file[key]) !== value)
      .map(([key, value]) => [key, valueOf(value, file[key])]),
  );
}
