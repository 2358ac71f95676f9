import type { Section } from './section.js';
import { endsInPair } from '../../text/sentences.js';
import type { DecodedText } from './text-encoding.js';

const PIECE = 64 * 1024;

/** Plain text as sections of at most 64 Ki characters, in constant memory. Form feeds are just white space. */
export async function* parseText(text: DecodedText): AsyncGenerator<Section> {
  let held = '';
  let charStart = 0;
  let continues = false;
  const take = (end: number): Section => {
    const section = {
      headingPath: [],
      page: null,
      kind: 'text' as const,
      text: held.slice(0, end),
      charStart,
      continues,
    };
    held = held.slice(end);
    charStart += end;
    continues = !held.startsWith('\n\n');
    return section;
  };
  for await (const piece of text.pieces()) {
    held += piece;
    while (held.length > PIECE) yield take(cutPoint(held));
  }
  if (held !== '') yield take(held.length);
}

/** Cuts before white space, so that the space is seen by who joins the pieces again. */
function cutPoint(text: string): number {
  const window = text.slice(PIECE / 2, PIECE);
  for (const sign of ['\n\n', '\n', '. ', ' ']) {
    const at = window.lastIndexOf(sign);
    if (at >= 0) return PIECE / 2 + at + (sign === '. ' ? 1 : 0);
  }
  return endsInPair(text, PIECE) ? PIECE - 1 : PIECE;
}
