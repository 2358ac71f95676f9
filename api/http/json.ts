import { stringify } from 'lossless-json';
import { Readable } from 'node:stream';
import type { Answer } from './route.js';

/** JSON text in which a bigint is written as its digits: integers beyond a double's reach come back unchanged. */
export function losslessBody(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** Characters that are written together: a write for each item costs more than the item. */
const FRAGMENT = 64 * 1024;

/**
 * `{"<name>": [items]}` written while the items are read: a list of any length takes no more memory than a page of it.
 * The first item is awaited, so that what fails before anything is written is answered with its own status.
 */
export async function jsonListStream(name: string, items: AsyncIterable<unknown>): Promise<Answer> {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  const text = async function* (): AsyncGenerator<string> {
    try {
      let held = `{${JSON.stringify(name)}:[`;
      let before = '';
      for (let next = first; next.done !== true; next = await iterator.next()) {
        held += `${before}${losslessBody(next.value)}`;
        before = ',';
        if (held.length < FRAGMENT) continue;
        yield held;
        held = '';
      }
      yield `${held}]}`;
    } finally {
      // Also when the client left.
      await iterator.return?.();
    }
  };
  return { status: 200, content: { type: 'application/json', data: Readable.from(text()) } };
}
