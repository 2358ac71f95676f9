import { formatFileSize } from '../../text/format-file-size.js';
import type { ParseNotes } from './parse-notes.js';

/** Characters; a shorter value may be a key, a hash or a signature, which people look for. */
const MIN_PACKED = 1024;
/** Base64 is wrapped at 60 characters or more; only the last line of it is shorter. */
const MIN_LINE = 40;
/** So much of a run that is none so far is waited for. */
const MAX_HELD = 64 * 1024;

const OTHER_SIGN = /[^A-Za-z0-9+/=_\-\s]/;
const RUN_AT = /[A-Za-z0-9+/=_-]*/y;
const LONG_RUN = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{1024,}/g;
const RUN_SIGN = /[A-Za-z0-9+/=_-]/;

/**
 * A value without the files that are packed in it as base64: they tell a reader nothing, and one of 1 MiB would be
 * thousands of chunks. A mark with the size stands in their place.
 */
export function withoutPackedData(text: string, notes?: ParseNotes): string {
  if (text.length < MIN_PACKED) return text;
  if (isWrappedBase64(text)) return markOf(text.replace(/\s+/g, '').length, notes);
  return withoutRuns(text, notes);
}

/** The same for the runs of a text that comes in fragments, in constant memory. */
export async function* withoutPackedRuns(
  fragments: AsyncIterable<string>,
  notes?: ParseNotes,
): AsyncGenerator<string> {
  /** The run that the text so far ends with, which may go on. */
  let held = '';
  /** The length of a run that is left out and not at its end yet. */
  let length = 0;
  for await (const fragment of fragments) {
    let text = held + fragment;
    held = '';
    let given = '';
    if (length > 0) {
      RUN_AT.lastIndex = 0;
      const more = RUN_AT.exec(text)?.[0].length ?? 0;
      length += more;
      if (more === text.length) continue;
      given = markOf(length, notes);
      length = 0;
      text = text.slice(more);
    }
    const end = startOfLastRun(text);
    given += withoutRuns(text.slice(0, end), notes);
    const last = text.slice(end);
    if (last.length >= MIN_PACKED && isMixed(last)) length = last.length;
    else if (last.length < MAX_HELD) held = last;
    else given += last;
    yield given;
  }
  yield length > 0 ? markOf(length, notes) : held;
}

function withoutRuns(text: string, notes?: ParseNotes): string {
  return text.replace(LONG_RUN, (run) => (isMixed(run) ? markOf(run.length, notes) : run));
}

function startOfLastRun(text: string): number {
  let at = text.length;
  while (at > 0 && RUN_SIGN.test(text[at - 1]!)) at--;
  return at;
}

function isWrappedBase64(text: string): boolean {
  if (OTHER_SIGN.test(text) || !isMixed(text)) return false;
  const lines = text.trim().split(/\s+/);
  return lines.every((line, i) => line.length >= MIN_LINE || i === lines.length - 1);
}

/** Sequences of proteins, hexadecimal numbers and drawn lines have no such mixture of signs. */
function isMixed(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run);
}

function markOf(length: number, notes: ParseNotes | undefined): string {
  notes?.drop(length);
  notes?.warn('Data that is packed in the file was left out.');
  return `[${formatFileSize(Math.floor((length * 3) / 4))} of data]`;
}
