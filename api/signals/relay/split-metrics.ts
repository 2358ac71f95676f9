import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isBlank,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../../../activities/text/json-signs.js';
import { AppError } from '../../../schemas/app-error.js';

/** CAPI refuses bodies over about 10 MiB after decompression (proxy spec, 4.5). */
export const METRICS_PART_BYTES = 9 * 1024 * 1024;

/** The lists of components in usage metrics (proxy spec, 6.2). */
const COMPONENTS: readonly string[] = ['remediation_components', 'log_processors'];

/** A real body has one for each bouncer and log processor. */
const MAX_COMPONENTS = 10_000;

/** What every part repeats may be so much of a part; else the parts would multiply it. */
const REPEATED_SHARE = 1 / 4;

interface Span {
  start: number;
  end: number;
}
interface Member extends Span {
  name: string;
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at += 1;
  return at;
}

/** The position behind a string's closing quote; the end of the bytes when there is none. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return bytes.length;
}

function isEndOfScalar(byte: number | undefined): boolean {
  return (
    byte === undefined || byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || isBlank(byte)
  );
}

/** The position behind a value, by its quotes and brackets alone: CAPI is the one to check the rest. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else {
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
      else if (depth === 0) {
        while (!isEndOfScalar(bytes[at])) at += 1;
        return at;
      }
      at += 1;
    }
    if (depth === 0) return at;
  }
  return bytes.length;
}

/** What stands between two brackets, one by one; null where it is no such list. */
function entriesOf<T extends Span>(
  bytes: Buffer,
  { start, end }: Span,
  brackets: readonly [number, number],
  entryAt: (at: number) => T | null,
): T[] | null {
  if (bytes[start] !== brackets[0] || bytes[end - 1] !== brackets[1]) return null;
  const entries: T[] = [];
  let at = skipBlanks(bytes, start + 1);
  if (at === end - 1) return entries;
  while (at < end) {
    const entry = entryAt(at);
    if (entry === null || entry.end <= entry.start) return null;
    entries.push(entry);
    if (entries.length > MAX_COMPONENTS)
      throw new AppError('PAYLOAD_TOO_LARGE', `More than ${MAX_COMPONENTS} components in one request`);
    at = skipBlanks(bytes, entry.end);
    if (at === end - 1) return entries;
    if (bytes[at] !== COMMA) return null;
    at = skipBlanks(bytes, at + 1);
  }
  return null;
}

function itemsOf(bytes: Buffer, span: Span): Span[] | null {
  return entriesOf(bytes, span, [OPEN_LIST, CLOSE_LIST], (start) => ({
    start,
    end: endOfValue(bytes, start),
  }));
}

/** Null also for a name that comes twice: which of the two counts is for CAPI to say. */
function membersOf(bytes: Buffer, span: Span): Member[] | null {
  const names = new Set<string>();
  return entriesOf(bytes, span, [OPEN_OBJECT, CLOSE_OBJECT], (at) => {
    const behind = endOfString(bytes, at);
    const colon = skipBlanks(bytes, behind);
    const name = bytes[at] === QUOTE && bytes[colon] === COLON ? nameIn(bytes, at, behind) : null;
    if (name === null || names.has(name)) return null;
    names.add(name);
    const start = skipBlanks(bytes, colon + 1);
    return { name, start, end: endOfValue(bytes, start) };
  });
}

function nameIn(bytes: Buffer, start: number, end: number): string | null {
  try {
    const name: unknown = JSON.parse(bytes.toString('utf8', start, end));
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}

const COMMA_BYTES = Buffer.from(',');

function joined(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [COMMA_BYTES, piece])));
}

function named(name: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(name)}:`), value]);
}

function enclosed(open: string, inner: Buffer, close: string): Buffer {
  return Buffer.concat([Buffer.from(open), inner, Buffer.from(close)]);
}

/** `lapi` without its own numbers, which must not count twice. */
function quietLapi(bytes: Buffer, members: readonly Member[]): Buffer | null {
  const lapi = members.find(({ name }) => name === 'lapi');
  const fields = lapi === undefined ? null : membersOf(bytes, lapi);
  if (fields === null) return null;
  const kept = fields
    .filter(({ name }) => name !== 'metrics')
    .map(({ name, start, end }) => named(name, bytes.subarray(start, end)));
  return named('lapi', enclosed('{', joined([...kept, Buffer.from('"metrics":[]')]), '}'));
}

/**
 * Cuts usage metrics that are too large for CAPI between components, so that each part fits. Every component is in one
 * part, byte for byte as it came; what is not a component is in the first part only, so that nothing counts twice, but
 * for `lapi`, which says where the components belong. A single component is never cut: CAPI decides on it. One pass
 * from left to right that notes offsets and builds nothing: the cost is that of the bytes, however many values they
 * are.
 * @returns the parts in order; the body itself when it fits, or cannot be cut
 * @throws AppError PAYLOAD_TOO_LARGE for more components than any local API server has
 */
export function splitMetrics(body: Buffer, limit = METRICS_PART_BYTES): Buffer[] {
  if (body.length <= limit) return [body];
  const start = skipBlanks(body, 0);
  const whole = { start, end: endOfValue(body, start) };
  const members = membersOf(body, whole);
  if (members === null || skipBlanks(body, whole.end) !== body.length) return [body];
  const lists = members.flatMap((member) => {
    const items = COMPONENTS.includes(member.name) ? itemsOf(body, member) : null;
    return items === null ? [] : [{ name: member.name, items }];
  });
  const components = COMPONENTS.flatMap((name) =>
    lists
      .filter((list) => list.name === name)
      .flatMap(({ items }) => items.map((item) => ({ name, bytes: body.subarray(item.start, item.end) }))),
  );
  if (components.length > MAX_COMPONENTS)
    throw new AppError('PAYLOAD_TOO_LARGE', `More than ${MAX_COMPONENTS} components in one request`);

  const others = members
    .filter(({ name }) => !lists.some((list) => list.name === name))
    .map((member) => named(member.name, body.subarray(member.start, member.end)));
  const lapi = quietLapi(body, members);
  const repeated = lapi === null ? [] : [lapi];
  const render = (part: readonly { name: string; bytes: Buffer }[], first: boolean): Buffer => {
    const cut = lists.map(({ name }) => {
      const own = part.filter((component) => component.name === name).map(({ bytes }) => bytes);
      return named(name, enclosed('[', joined(own), ']'));
    });
    return enclosed('{', joined([...(first ? others : repeated), ...cut]), '}');
  };
  const [emptyFirst, emptyNext] = [render([], true).length, render([], false).length];
  if (components.length < 2 || emptyNext > limit * REPEATED_SHARE) return [body];

  const parts: Buffer[] = [];
  let part: typeof components = [];
  let size = emptyFirst;
  for (const component of components) {
    if (part.length > 0 && size + component.bytes.length + 1 > limit) {
      parts.push(render(part, parts.length === 0));
      [part, size] = [[], emptyNext];
    }
    part.push(component);
    size += component.bytes.length + 1;
  }
  return [...parts, render(part, parts.length === 0)];
}
