import type { WebPage } from '../../ports/chat.js';
import type { SearchResult } from '../search/search-types.js';
import type { Support } from './find-support.js';

/** What stands behind one number of a prompt. */
export type ChatSource = SearchResult | WebPage;

export function isWebPage(source: ChatSource): source is WebPage {
  return 'url' in source;
}

export interface ChatSources {
  /** Everything put into the prompt, in numbering order. */
  presented: ChatSource[];
  cited: ChatSource[];
  /** Where a cited extract says what the answer says. */
  supports: ReadonlyMap<ChatSource, Support>;
  /** Whether the answer ended in a citation line. */
  reported: boolean;
  /** Whether that line said `none`, or what it named was left out of the answer. */
  none: boolean;
}

/** The sources to show: those cited; none where the answer rests on none; otherwise all that were presented. */
export function shownSources({ presented, cited, none }: ChatSources): ChatSource[] {
  if (cited.length > 0) return cited;
  return none ? [] : presented;
}
