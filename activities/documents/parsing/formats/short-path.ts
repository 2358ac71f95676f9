/** Characters of a path in front of a value; the rest would be said again with each value. */
export const MAX_PATH = 200;

/** The end of a path, which says most of a value. */
export function shortPath(path: string): string {
  if (path.length <= MAX_PATH) return path;
  // Not with the second half of a character.
  return `…${path.slice(1 - MAX_PATH).replace(/^[\uDC00-\uDFFF]/, '')}`;
}
