import { firstCharacters } from '../../text/sentences.js';

const MAX_LINE_LENGTH = 64 * 1024;

/** Lines with their line end; one that is longer than `most` characters (64 Ki) comes in parts. */
export async function* toLines(
  fragments: AsyncIterable<string>,
  most = MAX_LINE_LENGTH,
): AsyncGenerator<string> {
  let held = '';
  for await (const fragment of fragments) {
    held += fragment;
    let start = 0;
    for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n', start)) {
      yield held.slice(start, end + 1);
      start = end + 1;
    }
    held = held.slice(start);
    while (held.length > 2 * most) {
      const part = firstCharacters(held, most);
      yield part;
      held = held.slice(part.length);
    }
  }
  if (held !== '') yield held;
}
