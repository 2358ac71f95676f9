import { stringify } from 'lossless-json';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { JsonList } from './route.js';

/** JSON text in which a bigint is written as its digits: integers beyond a double's reach come back unchanged. */
export function losslessBody(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** Characters that are written together: a write for each row costs more than the row. */
const FRAGMENT = 64 * 1024;

/** An answer of so many characters is sent in one piece, with its length. */
const WHOLE = 256 * 1024;

/** `{"<name>": [rows], …}` in fragments; other requests have their turn after each. */
async function* listText({ name, rows, behind = {} }: JsonList): AsyncGenerator<string> {
  let held = `{${JSON.stringify(name)}:[`;
  let before = '';
  for await (const row of rows) {
    held += `${before}${losslessBody(row)}`;
    before = ',';
    if (held.length < FRAGMENT) continue;
    yield held;
    held = '';
    await turn();
  }
  const rest = losslessBody(behind).slice(1);
  yield `${held}]${rest === '}' ? '' : ','}${rest}`;
}

async function* following(begun: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield begun;
    yield* rest;
  } finally {
    // Also when the client left while the first part was on its way.
    await rest.return(undefined);
  }
}

/**
 * The text of a list: of a short one whole, otherwise written while the rows are read, so that a list of any length
 * takes no more memory than a part of it. What fails within the first part is thrown before anything is written.
 */
export async function listBody(list: JsonList): Promise<string | Readable> {
  const text = listText(list);
  let begun = '';
  while (begun.length < WHOLE) {
    const next = await text.next();
    if (next.done === true) return begun;
    begun += next.value;
  }
  return Readable.from(following(begun, text));
}

/** A list that is checked once its rows have passed, since they are made but once. */
export function checkedList(
  { name, rows, behind = {} }: JsonList,
  check: (whole: unknown) => void,
): JsonList {
  const passing = async function* () {
    const passed: unknown[] = [];
    for await (const row of rows) {
      passed.push(row);
      yield row;
    }
    check({ [name]: passed, ...behind });
  };
  return { name, rows: passing(), behind };
}
