const LONGEST_LINE = 64 * 1024;

/** Lines with their line end; one that is longer than 64 Ki characters comes in parts. */
export async function* toLines(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const piece of pieces) {
    held += piece;
    let start = 0;
    for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n', start)) {
      yield held.slice(start, end + 1);
      start = end + 1;
    }
    held = held.slice(start);
    while (held.length > 2 * LONGEST_LINE) {
      yield held.slice(0, LONGEST_LINE);
      held = held.slice(LONGEST_LINE);
    }
  }
  if (held !== '') yield held;
}
