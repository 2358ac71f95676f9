const MAX_LINE_LENGTH = 64 * 1024;

/** Lines with their line end; one that is longer than 64 Ki characters comes in parts. */
export async function* toLines(fragments: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const fragment of fragments) {
    held += fragment;
    let start = 0;
    for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n', start)) {
      yield held.slice(start, end + 1);
      start = end + 1;
    }
    held = held.slice(start);
    while (held.length > 2 * MAX_LINE_LENGTH) {
      yield held.slice(0, MAX_LINE_LENGTH);
      held = held.slice(MAX_LINE_LENGTH);
    }
  }
  if (held !== '') yield held;
}
