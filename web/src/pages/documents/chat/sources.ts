import { textOf } from '../queries';
import type { ChatExtra, Source } from './stream-answer';

export interface NumberedSource {
  number: number;
  source: Source;
}

function idOf({ chunk, url }: Source): string {
  return textOf(chunk?.['_id']) || (url ?? '');
}

/**
 * The sources by the numbers that the answer uses: their place among those that the model was shown. Where one was
 * cited its quote is with the cited entry.
 */
export function numberedSources(extra: ChatExtra): { sources: NumberedSource[]; cited: boolean } {
  const quoted = new Map([...extra.sources, ...extra.cited_sources].map((source) => [idOf(source), source]));
  const all = extra.presented_sources.map((source, index) => ({
    number: index + 1,
    source: quoted.get(idOf(source)) ?? source,
  }));
  const named = new Set(extra.cited_sources.map(idOf));
  const cited = all.filter(({ source }) => named.has(idOf(source)));
  if (cited.length > 0) return { sources: cited, cited: true };
  return { sources: extra.citations_reported ? [] : all, cited: false };
}

/** A number in the text may name any source that the model was shown. */
export function sourceByNumber(extra: ChatExtra, number: number): NumberedSource | null {
  const source = extra.presented_sources[number - 1];
  if (source === undefined) return null;
  const quoted = [...extra.cited_sources, ...extra.sources].find((other) => idOf(other) === idOf(source));
  return { number, source: quoted ?? source };
}

export function titleOf({ chunk, title, url }: Source): string {
  return textOf(chunk?.['original_filename']) || textOf(chunk?.['file_id']) || (title ?? url ?? '');
}
