import type { ChatExtra } from '../../../schemas/retrieval/chat-api.js';
import { losslessBody } from '../../http/json.js';

/** An `extra` as it stands in an event. */
export interface WrittenExtra {
  text: string;
  /** Its list of this name, which stands beside it as well. */
  sources: string;
}

export const NO_EXTRA: WrittenExtra = { text: '{}', sources: '[]' };

const LISTS: ReadonlySet<string> = new Set<keyof ChatExtra>([
  'sources',
  'presented_sources',
  'cited_sources',
  'all_retrieved_sources',
]);

/** Each entry becomes text once, however many lists hold it: a source has all metadata of its file. */
export function writeExtra(extra: ChatExtra): WrittenExtra {
  const written = new Map<unknown, string>();
  const entryText = (entry: unknown): string => {
    const text = written.get(entry) ?? losslessBody(entry);
    written.set(entry, text);
    return text;
  };
  const listText = (list: readonly unknown[]): string => `[${list.map(entryText).join(',')}]`;
  const fields = Object.entries(extra).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = LISTS.has(name) ? listText(value as readonly unknown[]) : losslessBody(value);
    return [`${JSON.stringify(name)}:${text}`];
  });
  return { text: `{${fields.join(',')}}`, sources: listText(extra.sources) };
}
