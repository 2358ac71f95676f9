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
/** With so many of them a tree has half a million elements. */
const MAX_LEFT_OPEN = 1_000;
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
  let leftOpen = 0;
  for (const token of scanHtmlTags(html)) {
    if (token.type === 'open') {
      if (VOID.has(token.name)) continue;
      if (SELF_CLOSING_PEERS.has(token.name) && stack.at(-1) === token.name) continue;
      stack.push(token.name);
      if (stack.length > limit) return true;
    } else if (token.type === 'close') {
      const from = stack.lastIndexOf(token.name);
      if (from < 0) {
        if (REOPENED.has(token.name)) leftOpen = Math.max(0, leftOpen - 1);
        continue;
      }
      leftOpen += stack.slice(from + 1).filter((name) => REOPENED.has(name)).length;
      stack.length = from;
      if (leftOpen > MAX_LEFT_OPEN) return true;
    }
  }
  return false;
}
