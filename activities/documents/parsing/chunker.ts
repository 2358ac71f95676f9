import { checkChunkingOptions } from './chunk.js';
import type { ChunkingOptions, ParsedChunk } from './chunk.js';
import type { Section } from './section.js';
import { toTextUnits } from './text-units.js';
import type { TextUnit } from './text-units.js';
import { countTokens } from '../../text/token-count.js';

/** Takes sections in order and gives chunks as soon as they are full; holds no more than one chunk. */
export interface Chunker {
  push(section: Section): Generator<ParsedChunk>;
  end(): Generator<ParsedChunk>;
}

/**
 * Cuts a document into chunks: at headings, at pages, between paragraphs, between sentences, and inside a sentence only
 * when it takes more than a quarter of a chunk, between clauses where there are any. No chunk has more than `chunkSize`
 * tokens or spans two pages; within one heading and page a chunk repeats whole sentences from the end of the last, up
 * to `overlapRate` of its size. With the strategy `structured_section` the headings that a chunk stands under are its
 * first line, so that it can be found and understood by them; where they would take more than a quarter of it they are
 * left out. A picture's place becomes a chunk of its own behind the chunk in which it stands; the text is cut as if it
 * were not there. Deterministic, no I/O, time linear in the text.
 */
export function createChunker({
  chunkSize,
  overlapRate,
  strategy = 'recursive_splitter',
}: ChunkingOptions): Chunker {
  checkChunkingOptions({ chunkSize, overlapRate });
  const overlapTokens = Math.floor(chunkSize * overlapRate);
  /** What is shorter is not worth a chunk of its own: a heading without text joins what stands under it. */
  const tiny = Math.min(32, chunkSize / 8);

  /** What every chunk of the place begins with, and how many tokens it leaves for the text. */
  let opening = '';
  let room = chunkSize;
  const enter = (headingPath: string[]): void => {
    if (strategy !== 'structured_section') return;
    const line = headingPath.join(' > ');
    const tokens = line === '' ? 0 : countTokens(`${line}\n\n`);
    const fits = tokens > 0 && tokens <= chunkSize / 4;
    opening = fits ? `${line}\n\n` : '';
    room = fits ? chunkSize - tokens - 1 : chunkSize;
  };

  let position = 0;
  let place: { headingPath: string[]; page: number | null; sectionId: number } | null = null;
  let open: TextUnit[] = [];
  /** How many of the open units repeat the last chunk. */
  let repeated = 0;
  /** Tokens of the open units, estimated as the sum of their parts. */
  let used = 0;

  /** Places of pictures that stand in the text that is open. */
  let pictures: Section[] = [];
  const picturePlace = ({ headingPath, page, picture }: Section): ParsedChunk => {
    const here = place !== null && samePath(place.headingPath, headingPath);
    return {
      position: position++,
      text: here ? opening : '',
      page,
      headingPath,
      chunkType: 'image',
      tokens: here ? room : chunkSize,
      sectionId: place?.sectionId ?? 0,
      picture: picture!,
    };
  };
  function* givePictures(): Generator<ParsedChunk> {
    const given = pictures;
    pictures = [];
    for (const picture of given) yield picturePlace(picture);
  }

  const toChunk = (units: TextUnit[], body: string, bodyTokens: number): ParsedChunk => {
    const { headingPath, page, sectionId } = place!;
    // A section's own heading may be the first of its text already.
    const named = body.replace(/^#+\s+/, '').startsWith(opening.trimEnd()) ? '' : opening;
    const text = named + body;
    const tokens = named === '' ? bodyTokens : countTokens(text);
    const kind = units[0]!.kind;
    const chunkType = units.every((unit) => unit.kind === kind) ? kind : 'text';
    const chunk: ParsedChunk = {
      position: position++,
      text,
      page,
      headingPath,
      chunkType,
      tokens,
      sectionId,
    };
    if (units[0]!.start !== undefined) chunk.charStart = units[0]!.start;
    return chunk;
  };

  /** Gives the open units as one chunk; those that do not fit after all, and the overlap, stay open. */
  const flush = (overlap: boolean): ParsedChunk | null => {
    if (open.length === repeated) {
      open = [];
      repeated = used = 0;
      return null;
    }
    let taken = open.length;
    let text = joinUnits(open);
    let tokens = countTokens(text);
    // The sum of the parts is a very good estimate, not a promise: the promise is kept here.
    while (tokens > room && taken > 1) {
      text = joinUnits(open.slice(0, --taken));
      tokens = countTokens(text);
    }
    const units = open.slice(0, taken);
    const rest = open.slice(taken);
    const again = overlap ? tailWithin(units, overlapTokens) : [];
    open = [...again, ...rest];
    repeated = again.length;
    used = open.reduce((sum, unit) => sum + weight(unit), 0);
    return toChunk(units, text, tokens);
  };

  function* flushAll(): Generator<ParsedChunk> {
    for (let chunk = flush(false); chunk; chunk = flush(false)) yield chunk;
    yield* givePictures();
  }

  function* add(unit: TextUnit): Generator<ParsedChunk> {
    if (unit.alone) {
      yield* flushAll();
      open = [unit];
      used = weight(unit);
      yield* flushAll();
      return;
    }
    const full = used + weight(unit) > room;
    const paragraph = unit.paragraphTokens ?? 0;
    const betterInNext = used >= room / 2 && used + paragraph > room && paragraph <= room - overlapTokens;
    if (open.length > repeated && (full || betterInNext)) {
      const chunk = flush(true);
      if (chunk) yield chunk;
      yield* givePictures();
    }
    while (repeated > 0 && used + weight(unit) > room) {
      used -= weight(open.shift()!);
      repeated--;
    }
    open.push(unit);
    used += weight(unit);
  }

  return {
    // eslint-disable-next-line complexity -- the state of the open chunk is tested in one place
    *push(section) {
      if (section.picture !== undefined) {
        pictures.push(section);
        if (open.length === repeated) yield* givePictures();
        return;
      }
      const moved =
        place === null || section.opens === true || !samePath(place.headingPath, section.headingPath);
      if (moved || place!.page !== section.page) {
        const { headingPath, page } = section;
        const under =
          place !== null &&
          place.page === page &&
          headingPath.length > place.headingPath.length &&
          startsWith(headingPath, place.headingPath);
        if (!(under && repeated === 0 && used <= tiny)) yield* flushAll();
        place = { headingPath, page, sectionId: place === null ? 0 : place.sectionId + (moved ? 1 : 0) };
        enter(headingPath);
      }
      for (const unit of toTextUnits(section, room)) yield* add(unit);
    },
    end: flushAll,
  };
}

function joinUnits(units: TextUnit[]): string {
  return units.map((unit, i) => (i === 0 ? unit.text : unit.gap + unit.text)).join('');
}

function weight(unit: TextUnit): number {
  return unit.tokens + (unit.gap === '' || unit.gap === ' ' ? 0 : 1);
}

/** The last whole sentences that together stay within `limit` tokens; never all of them. */
function tailWithin(units: TextUnit[], limit: number): TextUnit[] {
  let from = units.length;
  for (let sum = 0; from > 1; from--) {
    const unit = units[from - 1]!;
    sum += weight(unit);
    if (sum > limit || unit.kind !== 'text') break;
  }
  return units.slice(from);
}

function samePath(a: string[], b: string[]): boolean {
  return a.length === b.length && startsWith(a, b);
}

function startsWith(path: string[], prefix: string[]): boolean {
  return prefix.length <= path.length && prefix.every((title, i) => path[i] === title);
}
