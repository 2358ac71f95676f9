import { createHiddenElements } from '../hidden-elements.js';
import { scanHtmlTags } from '../html-tags.js';
import type { ParseNotes } from '../parse-notes.js';

const MAY_HIDE = /\s(?:hidden|style)[\s=>/]/i;
/** Empty in XHTML; in HTML, as which chapters are read, they would hold what comes behind them. */
const EMPTY_RAW = /<(script|style|textarea|title|xmp|iframe|noembed|noframes)((?:\s[^<>]*)?)\/>/gi;

/** A chapter of a book without the text that its elements say themselves to be hidden. */
export function withoutHiddenElements(xhtml: string, notes: ParseNotes): string {
  if (!MAY_HIDE.test(xhtml)) return xhtml;
  const elements = createHiddenElements();
  const kept: string[] = [];
  let dropped = 0;
  for (const token of scanHtmlTags(xhtml.replace(EMPTY_RAW, '<$1$2></$1>'))) {
    if (token.type === 'text') {
      if (elements.hidden) dropped += token.text.trim().length;
      else kept.push(token.text);
    } else if (token.type === 'close') {
      elements.close(token.name);
      kept.push(`</${token.name}>`);
    } else {
      kept.push(`<${token.name}${token.attributes}>`);
      // In XHTML such an element is empty, whatever its name.
      if (!token.attributes.endsWith('/')) elements.open(token.name, token.attributes);
    }
  }
  if (elements.hidden)
    notes.degrade('A hidden element of a chapter has no end: what stands behind it was left out.');
  notes.hide(dropped);
  return dropped === 0 ? xhtml : kept.join('');
}
