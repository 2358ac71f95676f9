import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { createHeadingPath } from './heading-path.js';
import { createHiddenElements } from './hidden-elements.js';
import { INLINE_TAGS, scanHtmlTags } from './html-tags.js';
import type { ParseNotes } from './parse-notes.js';
import type { Section } from './section.js';

const UNREAD = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'title']);
const entityReader = unified().use(rehypeParse, { fragment: true });

/**
 * Reads the text of HTML without building a tree: headings and blocks are kept, lists and rows become lines. What
 * elements say themselves to be hidden is left out; one that never ends hides the rest, as it does in a browser.
 */
// eslint-disable-next-line complexity -- a scanner: one branch for each kind of token
export function* parseFlatHtml(html: string, notes?: ParseNotes): Generator<Section> {
  const headings = createHeadingPath();
  const elements = createHiddenElements();
  let text = '';
  let unread: string | null = null;
  let heading: number | null = null;

  function* flush(): Generator<Section> {
    const clean = decodeEntities(text)
      .replace(/[ \t\n]+/g, ' ')
      .trim();
    text = '';
    if (clean === '') return;
    const opens = heading !== null;
    if (opens) headings.open(heading!, clean);
    const shown = opens ? `${'#'.repeat(heading!)} ${clean}` : clean;
    yield { headingPath: headings.current(), page: null, text: shown, kind: 'text', opens };
  }

  for (const token of scanHtmlTags(html)) {
    if (token.type === 'text') {
      if (!unread && elements.hidden) notes?.hide(token.text.trim().length);
      else if (!unread) text += token.text;
      if (text.length > 64 * 1024) yield* flush();
      continue;
    }
    if (unread) {
      if (token.type === 'close' && token.name === unread) unread = null;
      continue;
    }
    if (token.type === 'open' && UNREAD.has(token.name)) {
      unread = token.name;
      continue;
    }
    if (token.type === 'open') elements.open(token.name, token.attributes);
    else elements.close(token.name);
    if (elements.within) continue;
    if (token.name === 'td' || token.name === 'th') {
      if (token.type === 'close') text += ' | ';
    } else if (!INLINE_TAGS.has(token.name)) {
      const level = /^h([1-6])$/.exec(token.name)?.[1];
      yield* flush();
      if (level) heading = token.type === 'open' ? Number(level) : null;
      if (token.name === 'li' && token.type === 'open') text = '- ';
    }
  }
  yield* flush();
  if (elements.hidden)
    notes?.degrade('A hidden element of the HTML has no end: what stands behind it was left out.');
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  const tree = entityReader.parse(text.replaceAll('<', '&lt;'));
  return tree.children.map((node) => ('value' in node ? node.value : '')).join('');
}
