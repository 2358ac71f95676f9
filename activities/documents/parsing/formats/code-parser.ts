import type { Section } from '../section.js';
import type { DecodedText } from '../text-encoding.js';
import { toLines } from '../text-lines.js';

/** Characters: a part of some screens, cut where a new part of the program seems to begin. */
const PART = 4096;
const MAX_PART = 64 * 1024;

/** Source code as it is written, cut between lines, and at a line that is not indented where there is one. */
export async function* parseCode(text: DecodedText): AsyncGenerator<Section> {
  let held = '';
  let previous = '';
  let charStart = 0;
  const take = (): Section => {
    const section: Section = { headingPath: [], page: null, kind: 'code', text: held, charStart };
    charStart += held.length;
    held = '';
    return section;
  };
  for await (const line of toLines(text.fragments())) {
    const begins = /^[^\s})\]]/.test(line) && previous.trim() === '';
    if (held.trim() !== '' && (held.length + line.length > MAX_PART || (held.length > PART && begins)))
      yield take();
    held += line;
    previous = line;
  }
  if (held.trim() !== '') yield take();
}
