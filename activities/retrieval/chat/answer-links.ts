import { createTagFilter } from './answer-tags.js';
import { escapedSign, escapeLength, readJson, readMarkdown } from './encoded-signs.js';

/**
 * Where an address begins: a scheme with two slashes (browsers take backslashes for them), the schemes of the web with
 * their colon in any spelling that Markdown and HTML decode, schemes that act or send, `www.`, and two slashes that
 * stand for the scheme of the page.
 */
const ADDRESS =
  /[a-z][a-z0-9+.-]{0,30}:(?=[\\/]{2})|https?(?::|&colon;|&#0{0,6}58;?|&#x0{0,6}3a;?)(?=\S)|(?:javascript|vbscript|mailto):(?=\S)|data:(?=[a-z]+\/)|www\.(?=\S)|(?<![\w:\\/])[\\/]{2}(?=[\w-]+\.)/giu;

/** What may close the text around an address; none of it at the end belongs to the address. */
const CLOSING = /(?<![.,;:!?*_~"'`)\]}>|»”’])[.,;:!?*_~"'`)\]}>|»”’]+$/u;
const ONLY_CLOSING = /^[.,;:!?*_~"'`)\]}>|»”’]*$/u;

/** The beginning of a citation right behind an address; its number stands behind a space. */
const CITATION = /\[sources?:?$/iu;

/** What ends an address in a table, and one of a link that another follows. */
const DIVIDING = /\||\)(?=\[)/u;

/** White space, and letters and signs of scripts that are written without any: an address holds none of them. */
const BREAK =
  /[\s<\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]/u;

/** A run without a break is kept back up to this length; what goes on is an address to its end, or none. */
const MAX_RUN = 2_000;
/** Where a longer run is cut, an address may have begun within so many characters; a letter takes ten at most. */
const MAX_BEGINNING = 100;
/** Addresses remembered of sources and messages. */
const MAX_KNOWN = 2_000;

const REMOVED = { en: '[link removed]', fr: '[lien retiré]' } as const;

function hasAddress(text: string): boolean {
  return text.search(ADDRESS) !== -1;
}

/** Where the first address begins, as it stands or as Markdown reads it; -1 when there is none. */
function beginningIn(run: string): number {
  const plain = run.search(ADDRESS);
  if (!run.includes('\\') && !run.includes('&')) return plain;
  const { read, places } = readMarkdown(run);
  const hidden = read.search(ADDRESS);
  if (hidden === -1) return plain;
  return plain === -1 ? places[hidden]! : Math.min(plain, places[hidden]!);
}

/** How long the sign that stands there is; in JSON, an escape is one sign. */
function signLength(text: string, at: number, isData: boolean): number {
  return isData ? escapeLength(text, at) : 1;
}

/** Whether a run begins with the sign that stands there; in JSON it does where a string begins and where one ends. */
function isBreak(text: string, at: number, isData: boolean): boolean {
  const sign = text.charAt(at);
  if (isData && sign === '"') return true;
  return BREAK.test(isData && sign === '\\' ? escapedSign(text, at) : sign);
}

/** Where at most so many characters end, with no escape of JSON cut in two. */
function wholeSigns(text: string, length: number, isData: boolean): number {
  if (!isData) return length;
  let at = 0;
  for (;;) {
    const next = at + escapeLength(text, at);
    if (at === text.length || next > length) return at;
    at = next;
  }
}

/** The runs of a text between breaks, each with the break before it; the first `read` characters hold none. */
function* runsOf(text: string, isData = false, read = 0): Generator<string> {
  let open = 0;
  for (let at = read; at < text.length; at += signLength(text, at, isData)) {
    if (at === 0 || !isBreak(text, at, isData)) continue;
    yield text.slice(open, at);
    open = at;
  }
  if (open < text.length) yield text.slice(open);
}

/** Without what closes the text around it. */
function withoutClosing(address: string): string {
  return address.replace(CITATION, '').replace(CLOSING, '');
}

/** Whether a slash stands at its end says nothing. */
function withoutSlash(address: string): string {
  return address.endsWith('/') ? address.slice(0, -1) : address;
}

/** The addresses that stand in these texts, as an answer may repeat them; the first two thousand. */
export function addressesIn(texts: Iterable<string>): Set<string> {
  const known = new Set<string>();
  for (const text of texts) {
    if (!hasAddress(text)) continue;
    for (const run of runsOf(text))
      for (const { index } of run.matchAll(ADDRESS)) {
        if (known.size === MAX_KNOWN) return known;
        known.add(run.slice(index).replace(CLOSING, ''));
      }
  }
  return known;
}

export interface LinkFilter {
  /** Takes the next delta of the answer; gives back what may be shown now. */
  push(delta: string): string;
  /** What is left at the end. */
  end(): string;
  /** Addresses left out so far. */
  removed(): number;
}

/**
 * Leaves addresses out of an answer that neither a source nor the conversation holds letter by letter: words of a
 * document can tell a model to put what it was told in private into the address of a link or a picture, which a
 * browser then fetches. A known address says nothing new to its server, nor does the beginning of one. Pictures become
 * links, since a page fetches them without a click, and a tag that fetches or may hold an address loses its bracket.
 * What comes out does not depend on how the answer was cut into deltas, but for runs of more than two thousand
 * characters without a space.
 *
 * @param options.known addresses that may stand, see `addressesIn`
 * @param options.isData the answer is JSON, in which an address ends at a quotation mark; else it is Markdown,
 * in which an address goes on to the next white space
 */
export function createLinkFilter({
  known,
  language,
  isData,
}: {
  known: ReadonlySet<string>;
  language: 'en' | 'fr';
  isData: boolean;
}): LinkFilter {
  const allowed = [...known];
  let held = '';
  /** So much of it holds no break but the one that it begins with. */
  let read = 0;
  let skipping = false;
  let removed = 0;

  const isKnown = (address: string): boolean =>
    known.has(withoutSlash(address)) || allowed.some((one) => one.startsWith(address));

  /** A link that shows where it leads holds one address twice, which says no more than once. */
  const isKnownTwice = (address: string): boolean => {
    const [shown, target, ...more] = address.split('](');
    if (shown === undefined || target === undefined || more.length > 0) return false;
    return isKnown(shown) && isKnown(target) && withoutSlash(target).endsWith(withoutSlash(shown));
  };

  const stands = (address: string): boolean =>
    isKnown(address) || isKnownTwice(address) || (!isData && isKnown(readMarkdown(address).read));

  /** In angle brackets an address goes on behind a space, to the bracket that closes it. */
  const isOpen = (run: string, from: number, to: number): boolean =>
    !isData && run.charAt(from - 1) === '<' && !run.includes('>', to);

  /**
   * How far the known address that begins there may stand; null where it is not known. Where text goes on behind a sign
   * that ends it for some readers alone, a space behind that sign ends it for all.
   */
  const keptAt = (run: string, from: number, end: number): { to: number; space: string } | null => {
    const address = withoutClosing(run.slice(from, end));
    const to = from + address.length;
    if (stands(address)) {
      if (isOpen(run, from, to)) return null;
      return ONLY_CLOSING.test(run.slice(end)) ? { to, space: '' } : { to: end + 1, space: ' ' };
    }
    const division = address.length > MAX_RUN ? -1 : address.search(DIVIDING);
    if (division === -1 || run.charAt(from - 1) === '<') return null;
    if (!stands(address.slice(0, division).replace(CLOSING, ''))) return null;
    return { to: from + division + 1, space: ' ' };
  };

  const rewrite = (run: string): string => {
    if (isData) return rewriteData(run);
    const safe = run.replaceAll('![', '[');
    const from = beginningIn(safe);
    if (from === -1) return safe;
    const kept = keptAt(safe, from, safe.length);
    if (kept !== null)
      return kept.space === '' ? safe : `${safe.slice(0, kept.to)} ${rewrite(safe.slice(kept.to))}`;
    removed += 1;
    const address = withoutClosing(safe.slice(from));
    return safe.slice(0, from) + REMOVED[language] + safe.slice(from + address.length);
  };

  /** As the strings of JSON are read, with their spelling; an address ends at a quotation mark as well. */
  const rewriteData = (run: string): string => {
    const { read: text, places } = readJson(run);
    let shown = '';
    let at = 0;
    for (const { index: from } of text.matchAll(ADDRESS)) {
      if (from < at) continue;
      const quote = text.indexOf('"', from);
      const end = quote === -1 ? text.length : quote;
      const kept = keptAt(text, from, end);
      shown += run.slice(places[at], places[kept?.to ?? from]);
      if (kept === null) removed += 1;
      shown += kept?.space ?? REMOVED[language];
      at = kept?.to ?? from + withoutClosing(text.slice(from, end)).length;
    }
    return shown + run.slice(places[at]);
  };

  /** A whole run, or its beginning where it is too long to be kept back. */
  const release = (run: string): string => {
    if (!skipping) return rewrite(run);
    if (!isBreak(run, 0, isData)) return '';
    skipping = false;
    return rewrite(run);
  };

  const hasAddressOrSkips = (run: string): boolean => {
    const found = isData ? readJson(run).read.search(ADDRESS) : beginningIn(run);
    return found !== -1 || (skipping && !isBreak(run, 0, isData));
  };

  const tags = isData ? null : createTagFilter();

  return {
    push(delta) {
      held += tags === null ? delta : tags.push(delta);
      const runs = [...runsOf(held, isData, read)];
      held = runs.pop() ?? '';
      let shown = runs.map(release).join('');
      if (held.length > MAX_RUN) {
        const isAddress = hasAddressOrSkips(held);
        const to = wholeSigns(held, held.length - (isAddress ? 0 : MAX_BEGINNING), isData);
        shown += release(held.slice(0, to));
        // Whatever follows an address without a space belongs to it.
        held = held.slice(to);
        skipping = isAddress;
      }
      read = wholeSigns(held, held.length, isData);
      return shown;
    },
    end() {
      const runs = [...runsOf(held + (tags?.end() ?? ''), isData)];
      held = '';
      return runs.map(release).join('');
    },
    removed: () => removed,
  };
}
