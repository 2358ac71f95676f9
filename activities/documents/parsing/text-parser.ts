import type { Section } from './section.js';
import { endsInPair } from '../../text/sentences.js';
import type { DecodedText } from './text-encoding.js';

const FRAGMENT_LENGTH = 64 * 1024;

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
  for await (const fragment of text.fragments()) {
    held += fragment;
    while (held.length > FRAGMENT_LENGTH) yield take(cutPoint(held));
  }
  if (held !== '') yield take(held.length);
}

/** Cuts before white space, so that the fragments joined give the text with its space. */
function cutPoint(text: string): number {
  const window = text.slice(FRAGMENT_LENGTH / 2, FRAGMENT_LENGTH);
  for (const sign of ['\n\n', '\n', '. ', ' ']) {
    const at = window.lastIndexOf(sign);
    if (at >= 0) return FRAGMENT_LENGTH / 2 + at + (sign === '. ' ? 1 : 0);
  }
  return endsInPair(text, FRAGMENT_LENGTH) ? FRAGMENT_LENGTH - 1 : FRAGMENT_LENGTH;
}
