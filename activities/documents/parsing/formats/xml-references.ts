/** Where a reference could begin, or something in which none is: CDATA, a comment, a processing instruction. */
const TOKEN = /<!\[CDATA\[|<!--|<\?|&(?!#?\w{1,32};)/g;
const ENDS: Readonly<Record<string, string>> = { '<![CDATA[': ']]>', '<!--': '-->', '<?': '?>' };
/** More characters than any of these, and any reference, has: what stands at the end of a fragment waits for them. */
const HELD_BACK = 40;

/** Takes XML in fragments and gives it back in others. */
export interface ReferenceMender {
  write(fragment: string): string;
  /** What was still held back. */
  end(): string;
}

/**
 * Writes each `&` that begins no reference as `&amp;`. The reader takes all up to the next `;` for the name of an
 * entity, however far that is: with one `Smith & Sons` the rest of a document was lost.
 */
export function createReferenceMender(): ReferenceMender {
  let held = '';
  /** What ends the CDATA, comment or instruction that it is in. */
  let until: string | null = null;

  const mend = (text: string, limit: number): string => {
    const parts: string[] = [];
    let at = 0;
    while (at < limit) {
      const found: number = until === null ? nextToken(text, at) : text.indexOf(until, at);
      if (found < 0 || found >= limit) break;
      const token: string = until ?? tokenAt(text, found);
      parts.push(text.slice(at, found), token === '&' ? '&amp;' : token);
      at = found + token.length;
      until = until === null ? (ENDS[token] ?? null) : null;
    }
    const end = Math.max(at, limit);
    parts.push(text.slice(at, end));
    held = text.slice(end);
    return parts.join('');
  };

  return {
    write(fragment) {
      const text = held + fragment;
      return mend(text, Math.max(0, text.length - HELD_BACK));
    },
    end: () => mend(held, held.length),
  };
}

function nextToken(text: string, from: number): number {
  TOKEN.lastIndex = from;
  return TOKEN.exec(text)?.index ?? -1;
}

function tokenAt(text: string, at: number): string {
  return Object.keys(ENDS).find((start) => text.startsWith(start, at)) ?? '&';
}
