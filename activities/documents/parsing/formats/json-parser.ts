import { LosslessNumber, parse } from 'lossless-json';
import { withoutPackedData, withoutPackedRuns } from '../packed-data.js';
import type { ParseNotes } from '../parse-notes.js';
import type { Section } from '../section.js';
import type { DecodedText } from '../text-encoding.js';
import { toLines } from '../text-lines.js';
import { beyondLimit } from './limit-error.js';
import { MAX_PATH, shortPath } from './short-path.js';

/** A larger document is read as the text that it is: its tree would take ten times as much memory. */
const MAX_TREE = 16 * 1024 * 1024;
/** Characters; a longer record of JSON lines is read as text. */
const MAX_RECORD = 1024 * 1024;
const SECTION_LENGTH = 64 * 1024;

/**
 * JSON as lines that say where a value stands: `owner.name: Ada`. What is larger than a tree may be, or is no JSON
 * after all, is read as the text that it is. Files in base64 are left out.
 * @throws AppError FILE_TOO_COMPLEX for what nests too deep
 */
export async function* parseJson(
  text: DecodedText,
  maxNesting: number,
  notes?: ParseNotes,
): AsyncGenerator<Section> {
  const fragments = withoutPackedRuns(text.fragments(), notes);
  let held = '';
  for (let next = await fragments.next(); next.done !== true; next = await fragments.next()) {
    held += next.value;
    if (held.length > MAX_TREE) break;
  }
  const lines = held.length > MAX_TREE ? null : valueLines(held, maxNesting, notes);
  async function* source(): AsyncGenerator<string> {
    yield held;
    held = '';
    yield* fragments;
  }
  yield* lineSections(lines ?? toLines(source()), lines === null ? 'code' : 'text');
}

/** JSON lines: the values of each in lines, records a blank line apart. A line that is no JSON stands as it is. */
export async function* parseJsonLines(
  text: DecodedText,
  maxNesting: number,
  notes?: ParseNotes,
): AsyncGenerator<Section> {
  const fragments = withoutPackedRuns(text.fragments(), notes);
  async function* records(): AsyncGenerator<string> {
    for await (const line of toLines(fragments, MAX_RECORD)) {
      if (line.trim() === '') continue;
      const lines = valueLines(line, maxNesting, notes);
      yield `${lines === null ? line.trim() : [...lines].join('').trim()}\n\n`;
    }
  }
  yield* lineSections(records(), 'text');
}

/** Lines put together into sections of some 64 Ki characters. */
export async function* lineSections(
  lines: AsyncIterable<string> | Iterable<string>,
  kind: Section['kind'],
): AsyncGenerator<Section> {
  let held: string[] = [];
  let length = 0;
  for await (const line of lines) {
    held.push(line);
    length += line.length;
    if (length < SECTION_LENGTH) continue;
    yield { headingPath: [], page: null, kind, text: held.join('') };
    held = [];
    length = 0;
  }
  const rest = held.join('');
  if (rest.trim() !== '') yield { headingPath: [], page: null, kind, text: rest };
}

/** An object of JavaScript would lose what stands under this key, so such a text is left as it is. */
const PROTOTYPE_KEY = /"(?:_|\\u005f){2}proto(?:_|\\u005f){2}"\s*:/i;

/** null for what is no JSON. Numbers are given as they are written. */
function valueLines(
  json: string,
  maxNesting: number,
  notes: ParseNotes | undefined,
): Iterable<string> | null {
  if (nestsDeeperThan(json, maxNesting)) throw beyondLimit('maxNesting', maxNesting);
  if (PROTOTYPE_KEY.test(json)) return null;
  let value: unknown;
  try {
    value = parse(json);
  } catch {
    return null;
  }
  return linesOf(value, '', (plain) => withoutPackedData(String(plain), notes));
}

function* linesOf(value: unknown, path: string, plainText: (value: Plain) => string): Generator<string> {
  if (Array.isArray(value)) {
    // A list of plain values is one line.
    if (value.every(isPlain)) {
      if (value.length > 0) yield named(path, value.map(plainText).join(', '));
      return;
    }
    for (const [index, item] of value.entries()) yield* linesOf(item, `${path}[${index}]`, plainText);
  } else if (isPlain(value)) {
    yield named(path, plainText(value));
  } else {
    for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
      if (key.length > MAX_PATH) yield `${key}\n`;
      yield* linesOf(item, shortPath(path === '' ? key : `${path}.${key}`), plainText);
    }
  }
}

type Plain = string | boolean | null | LosslessNumber;

function isPlain(value: unknown): value is Plain {
  return value === null || typeof value !== 'object' || value instanceof LosslessNumber;
}

function named(path: string, text: string): string {
  return `${path === '' ? '' : `${path}: `}${text}\n`;
}

/** By a scan: the reader is recursive. */
function nestsDeeperThan(json: string, most: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (quoted) {
      if (code === 0x5c) at++;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > most) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}
