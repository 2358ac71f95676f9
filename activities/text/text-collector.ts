/** Pieces that are put together at a time. */
const PIECES = 16;

/**
 * A long text that comes in small pieces and is held for as long as they come. V8 makes an object of every two strings
 * that are added, and keeps it until the whole is read: of an answer of a thousand tokens those take more than its
 * words.
 */
export function createTextCollector() {
  let whole = '';
  let pieces: string[] = [];
  const put = (): void => {
    whole += pieces.join('');
    pieces = [];
  };
  return {
    add(piece: string): void {
      if (piece !== '' && pieces.push(piece) === PIECES) put();
    },
    text(): string {
      put();
      return whole;
    },
  };
}
