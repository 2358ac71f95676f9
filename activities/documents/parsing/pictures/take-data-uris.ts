import type { PictureCollector } from './picture-collector.js';
import { readPictureFormat } from './picture-format.js';
import type { PictureMarks } from './picture-marks.js';

const START = 'data:image/';
/** The longest beginning that is waited for: `data:image/`, a subtype and its parameters. */
const MAX_HEAD_LENGTH = 200;
/** Of the formats that are taken: an SVG is mostly an icon. */
const HEAD = /^data:image\/(?:png|jpe?g|gif|webp)(?:;[\w.+=-]{1,60}){0,2};base64,/i;
const NO_BASE64 = /[^A-Za-z0-9+/=]/;
/** What is no picture may be an example of one in a text; longer it is of no use to any reader. */
const MAX_EXAMPLE_LENGTH = 4096;

/**
 * A text with each picture in a base64 data URI taken out and a mark in its place. Linear time; holds one picture at a
 * time, up to the limit of its bytes. Nothing is ever fetched.
 */
export async function* takeDataUris(
  fragments: AsyncIterable<string>,
  pictures: PictureCollector,
  marks: PictureMarks,
): AsyncGenerator<string> {
  const mostCharacters = Math.ceil(pictures.limits.maxBytes / 3) * 4;
  let held = '';
  /** The picture that is being read: what of it is kept, and how long it is in all. */
  let open: { head: string; base64: string; length: number } | null = null;

  const take = async ({ head, base64, length }: NonNullable<typeof open>): Promise<string> => {
    const asItWas = length <= MAX_EXAMPLE_LENGTH ? head + base64 : '';
    if (length > mostCharacters) {
      pictures.leaveOut();
      return asItWas;
    }
    const bytes = Buffer.from(base64, 'base64');
    if (asItWas !== '' && readPictureFormat(bytes) === null) return asItWas;
    const picture = await pictures.take(bytes);
    return picture === null ? asItWas : marks.of(picture);
  };

  /** Gives what is complete of the held text; at the end that is everything. */
  async function* release(atEnd: boolean): AsyncGenerator<string> {
    for (;;) {
      if (open !== null) {
        const end = held.search(NO_BASE64);
        const part = end < 0 ? held : held.slice(0, end);
        if (open.length <= mostCharacters) open.base64 += part;
        open.length += part.length;
        held = held.slice(part.length);
        if (end < 0 && !atEnd) return;
        yield await take(open);
        open = null;
        continue;
      }
      const start = held.indexOf(START);
      if (start < 0) {
        // The end may be the beginning of a beginning.
        const complete = atEnd ? held.length : Math.max(0, held.length - START.length);
        yield held.slice(0, complete);
        held = held.slice(complete);
        return;
      }
      if (start > 0) {
        yield held.slice(0, start);
        held = held.slice(start);
      }
      if (held.length < MAX_HEAD_LENGTH && !atEnd) return;
      const head = HEAD.exec(held.slice(0, MAX_HEAD_LENGTH))?.[0];
      if (head === undefined) yield START;
      else open = { head, base64: '', length: 0 };
      held = held.slice((head ?? START).length);
    }
  }

  for await (const fragment of fragments) {
    held += fragment;
    yield* release(false);
  }
  yield* release(true);
}
