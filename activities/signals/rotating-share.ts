/**
 * A bounded share at each call, each behind the one before, and the front again behind the last: those at the front may
 * be stuck there, and must not hide the others. Each process goes its own round.
 */
export function rotatingShare(
  share: number,
  ask: (limit: number, offset: number) => Promise<string[]>,
): () => Promise<string[]> {
  let offset = 0;
  return async function next(): Promise<string[]> {
    const from = offset;
    const found = await ask(share, from);
    offset = found.length < share ? 0 : from + share;
    return found.length === 0 && from > 0 ? next() : found;
  };
}
