import { createTagFilter } from './answer-tags.js';

/**
 * Where an address begins: a scheme with two slashes (browsers take backslashes for them), the schemes of the web with
 * their colon in any spelling that Markdown and HTML decode, schemes that act or send, `www.`, and two slashes that
 * stand for the scheme of the page.
 */
const ADDRESS =
  /[a-z][a-z0-9+.-]{0,30}:(?=[\\/]{2})|https?(?::|&colon;|&#0{0,6}58;?|&#x0{0,6}3a;?)(?=\S)|(?:javascript|vbscript|mailto):(?=\S)|data:(?=[a-z]+\/)|www\.(?=\S)|(?<![\w:\\/])[\\/]{2}(?=[\w-]+\.)/giu;

/** What may close the text around an address; none of it at the end belongs to the address. */
const CLOSING = /(?<![.,;:!?*_~"'`)\]}>»”’])[.,;:!?*_~"'`)\]}>»”’]+$/u;

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

/**
 * What Markdown decodes in the target of a link: a backslash before a sign of ASCII, and character references
 * (CommonMark 0.31, 2.4 and 2.5). Of those with names, the ones for signs that an address begins with; Markdown knows
 * none for a letter.
 */
const ENCODED = /\\([!-/:-@[-`{-~])|&(?:#(\d{1,7})|#x([\da-f]{1,6})|(colon|sol|bsol|period|tab|newline));/giu;
const NAMED: Record<string, string> = { colon: ':', sol: '/', bsol: '\\', period: '.', tab: '', newline: '' };

/** The sign that an encoded one stands for; browsers leave tabs and line breaks out of an address. */
function signOf([whole, escaped, decimal, hexadecimal, name]: RegExpExecArray): string {
  if (escaped !== undefined) return escaped;
  if (name !== undefined) return NAMED[name.toLowerCase()]!;
  const code = decimal === undefined ? parseInt(hexadecimal!, 16) : Number(decimal);
  if (code === 9 || code === 10 || code === 13) return '';
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
}

/** A text as Markdown reads it in the target of a link, and where each of its characters begins in the given one. */
function decoded(text: string): { read: string; places: number[] } {
  let read = '';
  const places: number[] = [];
  const add = (part: string, place: (index: number) => number): void => {
    read += part;
    for (let index = 0; index < part.length; index += 1) places.push(place(index));
  };
  let at = 0;
  for (const match of text.matchAll(ENCODED)) {
    const [from, begin] = [at, match.index];
    add(text.slice(from, begin), (index) => from + index);
    add(signOf(match), () => begin);
    at = begin + match[0].length;
  }
  const rest = at;
  add(text.slice(rest), (index) => rest + index);
  return { read, places };
}

/** Where the first address begins, as it stands or as Markdown reads it; -1 when there is none. */
function beginningIn(run: string): number {
  const plain = run.search(ADDRESS);
  if (!run.includes('\\') && !run.includes('&')) return plain;
  const { read, places } = decoded(run);
  const hidden = read.search(ADDRESS);
  if (hidden === -1) return plain;
  return plain === -1 ? places[hidden]! : Math.min(plain, places[hidden]!);
}

/** The runs of a text between breaks, each with the break before it. */
function* runsOf(text: string): Generator<string> {
  let open = 0;
  for (let at = 1; at < text.length; at += 1)
    if (BREAK.test(text.charAt(at))) {
      yield text.slice(open, at);
      open = at;
    }
  if (open < text.length) yield text.slice(open);
}

/** Where the first address in a run begins and ends; null when there is none. */
function addressIn(run: string, isData: boolean): { from: number; to: number } | null {
  const from = isData ? run.search(ADDRESS) : beginningIn(run);
  if (from === -1) return null;
  const quote = isData ? run.indexOf('"', from) : -1;
  const whole = quote === -1 ? run.slice(from) : run.slice(from, quote);
  return { from, to: from + whole.replace(CLOSING, '').length };
}

/** Escapes that JSON allows and does not need, so that no address hides in them; the value stays the same. */
function withoutEscapes(json: string): string {
  return json.replace(/\\(?:\/|u00([2-7][0-9a-f]))/giu, (escape, code: string | undefined) => {
    const sign = code === undefined ? '/' : String.fromCharCode(parseInt(code, 16));
    return sign === '"' || sign === '\\' ? escape : sign;
  });
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
 * @param options.isData the answer is JSON, in which an address ends at its quotation mark; else it is Markdown,
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
  let skipping = false;
  let removed = 0;

  const isKnown = (address: string): boolean =>
    known.has(address) || allowed.some((one) => one.startsWith(address));

  /** In angle brackets an address goes on behind a space, to the bracket that closes it. */
  const isOpen = (run: string, from: number, to: number): boolean =>
    !isData && run.charAt(from - 1) === '<' && !run.includes('>', to);

  const rewrite = (run: string): string => {
    const safe = isData ? withoutEscapes(run) : run.replaceAll('![', '[');
    const found = addressIn(safe, isData);
    if (found === null) return safe;
    const { from, to } = found;
    const rest = isData ? rewrite(safe.slice(to)) : safe.slice(to);
    const address = safe.slice(from, to);
    const stands = isKnown(address) || (!isData && isKnown(decoded(address).read));
    if (stands && !isOpen(safe, from, to)) return safe.slice(0, to) + rest;
    removed += 1;
    return safe.slice(0, from) + REMOVED[language] + rest;
  };

  /** A whole run, or its beginning where it is too long to be kept back. */
  const release = (run: string): string => {
    if (!skipping) return rewrite(run);
    if (!BREAK.test(run.charAt(0))) return '';
    skipping = false;
    return rewrite(run);
  };

  const tags = isData ? null : createTagFilter();

  return {
    push(delta) {
      held += tags === null ? delta : tags.push(delta);
      const runs = [...runsOf(held)];
      held = runs.pop() ?? '';
      let shown = runs.map(release).join('');
      if (held.length > MAX_RUN) {
        const isAddress = addressIn(held, isData) !== null || (skipping && !BREAK.test(held.charAt(0)));
        shown += release(isAddress ? held : held.slice(0, -MAX_BEGINNING));
        // Whatever follows an address without a space belongs to it.
        held = isAddress ? '' : held.slice(-MAX_BEGINNING);
        skipping = isAddress;
      }
      return shown;
    },
    end() {
      const runs = [...runsOf(held + (tags?.end() ?? ''))];
      held = '';
      return runs.map(release).join('');
    },
    removed: () => removed,
  };
}
