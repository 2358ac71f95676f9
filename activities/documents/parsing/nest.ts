import { createParseNotes } from './parse-notes.js';
import type { ParseNotes } from './parse-notes.js';

/** What the files that are packed in one another have in common, while the outermost is read. */
export interface Nest {
  /** Files around this one. */
  depth: number;
  /** Members and bytes of all of them so far. */
  spent: { members: number; bytes: number };
  /** What the report of the outermost says of them. */
  notes: ParseNotes;
}

export const outermost = (): Nest => ({
  depth: 0,
  spent: { members: 0, bytes: 0 },
  notes: createParseNotes(),
});
