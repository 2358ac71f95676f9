import type { components } from '../../../api/schema.gen';
import { cutText } from '../../../shared/cut-text';
import { textOf } from '../queries';
import type { ChatExtra, Source } from './stream-answer';

/** A source as it is kept with the conversation: without any text of the document. */
export type KeptSource = components['schemas']['ConversationSource'];

/** So many are kept of an answer. */
const MAX_SOURCES = 100;

function idOf({ chunk, url }: Source): string {
  return textOf(chunk?.['_id']) || (url ?? '');
}

function kept(source: Source, number: number, cited: boolean): KeptSource {
  const { chunk, title, url } = source;
  const page = chunk?.['page'];
  return {
    source_type: source.source_type,
    number,
    cited,
    chunk_id: chunk ? textOf(chunk['_id']) : null,
    partition: chunk ? textOf(chunk['partition']) : null,
    file_id: chunk ? textOf(chunk['file_id']) : null,
    title: cutText(textOf(chunk?.['original_filename']) || (title ?? ''), 500) || null,
    page: typeof page === 'number' ? page : null,
    char_start: source.char_start ?? null,
    char_end: source.char_end ?? null,
    verified: source.verified ?? null,
    url: url == null ? null : cutText(url, 2_000),
  };
}

/**
 * The sources by the numbers that the answer uses: their place among those that the model was shown. Where one was
 * cited its quote is with the cited entry.
 */
export function keptSources(extra: ChatExtra): KeptSource[] {
  const quoted = new Map([...extra.sources, ...extra.cited_sources].map((source) => [idOf(source), source]));
  const named = new Set(extra.cited_sources.map(idOf));
  if (named.size === 0 && extra.citations_reported) return [];
  return extra.presented_sources
    .slice(0, MAX_SOURCES)
    .map((source, index) => kept(quoted.get(idOf(source)) ?? source, index + 1, named.has(idOf(source))));
}

/** Those that the answer cites or, where it cites none, all that the model was shown. */
export function shownSources(sources: readonly KeptSource[]): {
  shown: readonly KeptSource[];
  cited: boolean;
} {
  const cited = sources.filter((source) => source.cited);
  return cited.length > 0 ? { shown: cited, cited: true } : { shown: sources, cited: false };
}

export function titleOf({ title, file_id: file, url }: KeptSource): string {
  return title || file || (url ?? '');
}
