import { ReopenedElements } from './reopened-elements.js';

/** One step of a flat reading of HTML. */
export type HtmlToken =
  | { type: 'text'; text: string }
  /** Attributes as they are written. */
  | { type: 'open'; name: string; attributes: string }
  | { type: 'close'; name: string };

export const VOID = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
/** Their content is no markup; script and style are not even text. */
const RAW = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes']);
/** An open one of these is closed by the next of the same name. */
const SELF_CLOSING_PEERS = new Set('p li dt dd tr td th option optgroup'.split(' '));
/** Elements that stand in a line of text rather than end it. */
export const INLINE_TAGS = new Set(
  'a abbr b bdi bdo big cite code del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
/** Where one of these is left open by the end of what it stands in, a browser opens it again in what follows. */
export const REOPENED = new Set('a b big code em font i nobr s small strike strong tt u'.split(' '));
/** Each of them nests all that follows deeper. */
const MAX_LEFT_OPEN = 1_000;
/** Elements that are opened again, in all: many more than tags, where much stands behind what was left open. */
const MAX_REOPENED = 500_000;
/** Before these, what was left open is not opened again: it waits for what stands within or behind them. */
const BLOCKS = new Set(
  `address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset
  figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html li listing main menu nav ol p pre
  search section summary table tbody td tfoot th thead tr ul`.split(/\s+/),
);
/** Elements without content that stand in a line of text. */
const VOID_INLINE = new Set('area br embed img input wbr'.split(' '));
const NAME = /[a-zA-Z][^\s/>]*/y;

/** Tags that are never closed, after which quotes are no longer believed: each was looked for to the end. */
const MAX_UNCLOSED = 16;

/** Reads HTML as a flat stream of tags and texts, in linear time and constant stack, whatever the nesting. */
// eslint-disable-next-line complexity -- a scanner: one branch for each state
export function* scanHtmlTags(html: string): Generator<HtmlToken> {
  let at = 0;
  let unclosed = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    if (html.startsWith('<!--', open)) {
      if (open > at) yield { type: 'text', text: html.slice(at, open) };
      const end = html.indexOf('-->', open + 4);
      at = end < 0 ? html.length : end + 3;
      continue;
    }
    const closing = html[open + 1] === '/';
    const declaration = html[open + 1] === '!' || html[open + 1] === '?';
    NAME.lastIndex = open + (closing ? 2 : 1);
    const name = NAME.exec(html)?.[0]?.toLowerCase();
    const nameEnd = NAME.lastIndex;
    if (!name && !declaration) {
      yield { type: 'text', text: html.slice(at, open + 1) };
      at = open + 1;
      continue;
    }
    if (open > at) yield { type: 'text', text: html.slice(at, open) };
    const end = unclosed < MAX_UNCLOSED ? tagEnd(html, open + 1) : -1;
    // An attribute that is never closed must not swallow the rest of the document.
    if (end < 0) {
      unclosed++;
      const first = html.indexOf('>', open + 1);
      at = first < 0 ? html.length : first + 1;
    } else at = end;
    if (!name) continue;
    yield closing
      ? { type: 'close', name }
      : { type: 'open', name, attributes: html.slice(nameEnd, html[at - 1] === '>' ? at - 1 : at) };
    if (!closing && RAW.has(name)) {
      const end = endOfRaw(html, name, at);
      if (end > at) yield { type: 'text', text: html.slice(at, end) };
      at = end;
    }
  }
  if (at < html.length) yield { type: 'text', text: html.slice(at) };
}

/** Offset behind the `>` of a tag; one inside a quoted attribute value does not count. -1: there is none. */
function tagEnd(html: string, from: number): number {
  let quote = '';
  for (let i = from; i < html.length; i++) {
    const sign = html[i]!;
    if (quote) {
      if (sign === quote) quote = '';
    } else if ((sign === '"' || sign === "'") && html[i - 1] === '=') quote = sign;
    else if (sign === '>') return i + 1;
  }
  return -1;
}

function endOfRaw(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}[\\s/>]`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/**
 * Whether the elements nest deeper than `limit`, or deeper and deeper since they are left open. An estimate on the high
 * side for sloppy HTML, made before any tree is built: tree builders need time with the square of the depth, and tree
 * walkers a stack frame a level.
 */
export function nestsDeeperThan(html: string, limit: number): boolean {
  const stack: string[] = [];
  const attributesOf: string[] = [];
  const reopened = new ReopenedElements();
  let leftOpen = 0;
  const open = (name: string, attributes: string): void => {
    // It may end a paragraph or a row, and so what is open again within.
    if (!INLINE_TAGS.has(name) && !VOID_INLINE.has(name)) reopened.cutTo(-1);
    if (!BLOCKS.has(name)) reopened.beforeContent(stack.length);
    if (VOID.has(name)) return;
    if (SELF_CLOSING_PEERS.has(name) && stack.at(-1) === name) return;
    attributesOf[stack.length] = attributes;
    stack.push(name);
  };
  const close = (name: string): void => {
    const from = stack.lastIndexOf(name);
    reopened.cutTo(from);
    // Read as `<br>`.
    if (name === 'br') reopened.beforeContent(stack.length);
    if (from < 0) {
      if (!REOPENED.has(name)) return;
      leftOpen = Math.max(0, leftOpen - 1);
      reopened.close(name);
      return;
    }
    for (let at = from + 1; at < stack.length; at++) {
      if (!REOPENED.has(stack[at]!)) continue;
      leftOpen++;
      reopened.leave(stack[at]!, attributesOf[at]!);
    }
    stack.length = from;
  };
  for (const token of scanHtmlTags(html)) {
    if (token.type === 'text') reopened.beforeContent(stack.length);
    else if (token.type === 'open') open(token.name, token.attributes);
    else close(token.name);
    if (stack.length > limit || leftOpen > MAX_LEFT_OPEN || reopened.total > MAX_REOPENED) return true;
  }
  return false;
}
