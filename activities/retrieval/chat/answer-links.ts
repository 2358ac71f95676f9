/**
 * Where an address begins: a scheme with two slashes (browsers take backslashes for them), the schemes of the web with
 * their colon in any spelling that Markdown and HTML decode, schemes that act or send, `www.`, and two slashes that
 * stand for the scheme of the page.
 */
const ADDRESS =
  /[a-z][a-z0-9+.-]{0,30}:(?=[\\/]{2})|https?(?::|&colon;|&#0{0,6}58;?|&#x0{0,6}3a;?)(?=\S)|(?:javascript|vbscript|mailto):(?=\S)|data:(?=[a-z]+\/)|www\.(?=\S)|(?<![\w:\\/])[\\/]{2}(?=[\w-]+\.)/giu;

/** What may close the text around an address; none of it at the end belongs to the address. */
const CLOSING = /(?<![.,;:!?*_~"'`)\]}>»”’])[.,;:!?*_~"'`)\]}>»”’]+$/u;

/** Tags that make a page fetch something by themselves. */
const FETCHING_TAG =
  /<(?=\/?(?:audio|base|embed|form|iframe|image|img|input|link|meta|object|picture|script|source|style|svg|video)\b)/giu;

/** White space, and letters and signs of scripts that are written without any: an address holds none of them. */
const BREAK =
  /[\s<\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]/u;

/** A run without a break is kept back up to this length; what goes on is an address to its end, or none. */
const MAX_RUN = 2_000;
/** Where a longer run is cut, an address may have begun within so many characters. */
const MAX_BEGINNING = 40;
/** Addresses remembered of sources and messages. */
const MAX_KNOWN = 2_000;

const REMOVED = { en: '[link removed]', fr: '[lien retiré]' } as const;

function hasAddress(text: string): boolean {
  return text.search(ADDRESS) !== -1;
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
  const from = run.search(ADDRESS);
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
 * links, since a page fetches them without a click. What comes out does not depend on how the answer was cut
 * into deltas, but for runs of more than two thousand characters without a space.
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

  const rewrite = (run: string): string => {
    const safe = isData ? withoutEscapes(run) : run.replace(FETCHING_TAG, '‹').replaceAll('![', '[');
    const found = addressIn(safe, isData);
    if (found === null) return safe;
    const { from, to } = found;
    const rest = isData ? rewrite(safe.slice(to)) : safe.slice(to);
    if (isKnown(safe.slice(from, to))) return safe.slice(0, to) + rest;
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

  return {
    push(delta) {
      held += delta;
      const runs = [...runsOf(held)];
      held = runs.pop() ?? '';
      let shown = runs.map(release).join('');
      if (held.length > MAX_RUN) {
        const isAddress = hasAddress(held) || (skipping && !BREAK.test(held.charAt(0)));
        shown += release(isAddress ? held : held.slice(0, -MAX_BEGINNING));
        // Whatever follows an address without a space belongs to it.
        held = isAddress ? '' : held.slice(-MAX_BEGINNING);
        skipping = isAddress;
      }
      return shown;
    },
    end() {
      const rest = held === '' ? '' : release(held);
      held = '';
      return rest;
    },
    removed: () => removed,
  };
}
