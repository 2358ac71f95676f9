/** A picture of a TIFF: where its directory stands, and the size that it declares (0 where it declares none). */
export interface TiffPage {
  directory: number;
  width: number;
  height: number;
}

export interface TiffPages {
  pages: TiffPage[];
  /** The list of directories leads out of the file, or back into itself: pages behind these may be missing. */
  isBroken: boolean;
}

const SUBFILE_TAG = 254;
const WIDTH_TAG = 256;
const HEIGHT_TAG = 257;
/** Bits of the subfile tag: the picture is a smaller copy of another one of the file, or a mask for one. */
const COPY_OR_MASK = 0b101;
/** Of a directory: more is damage. */
const MAX_TAGS = 1000;
/** A page has a mask and a smaller copy with a mask at most, so many directories in all. */
const COPIES_AND_PAGE = 4;
const SHORT = 3;
const NEXT_AT = 4;

interface Reader {
  short(at: number): number;
  long(at: number): number;
}

function readerOf(bytes: Buffer): Reader | null {
  const mark = bytes.toString('latin1', 0, 4);
  if (mark === 'II*\0')
    return { short: (at) => bytes.readUInt16LE(at), long: (at) => bytes.readUInt32LE(at) };
  if (mark === 'MM\0*')
    return { short: (at) => bytes.readUInt16BE(at), long: (at) => bytes.readUInt32BE(at) };
  return null;
}

/**
 * The pages of a TIFF (TIFF 6.0, section 2) in the order of its list, without decoding them; smaller copies of pages
 * and masks are none. Null for anything else.
 * @param most pages, where to stop
 */
export function tiffPages(bytes: Buffer, most: number): TiffPages | null {
  const reader = readerOf(bytes);
  if (reader === null) return null;
  const pages: TiffPage[] = [];
  const copies: TiffPage[] = [];
  const seen = new Set<number>();
  let isBroken = false;
  try {
    let at = reader.long(NEXT_AT);
    while (at !== 0 && pages.length < most) {
      isBroken = seen.has(at) || seen.size >= most * COPIES_AND_PAGE;
      if (isBroken) break;
      seen.add(at);
      const { page, isPage, next } = readDirectory(reader, at);
      (isPage ? pages : copies).push(page);
      at = next;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    isBroken = true;
  }
  // Some programs call every picture a copy.
  return { pages: pages.length > 0 ? pages : copies, isBroken };
}

function readDirectory(
  { short, long }: Reader,
  directory: number,
): { page: TiffPage; isPage: boolean; next: number } {
  const page = { directory, width: 0, height: 0 };
  let isPage = true;
  const tags = short(directory);
  for (let tag = 0; tag < Math.min(tags, MAX_TAGS); tag++) {
    const at = directory + 2 + tag * 12;
    const value = short(at + 2) === SHORT ? short(at + 8) : long(at + 8);
    const name = short(at);
    if (name === WIDTH_TAG) page.width = value;
    if (name === HEIGHT_TAG) page.height = value;
    if (name === SUBFILE_TAG) isPage = (value & COPY_OR_MASK) === 0;
  }
  return { page, isPage, next: long(directory + 2 + tags * 12) };
}

/** Makes a page the first of its TIFF, in the bytes as they are: readers of one picture read it then. */
export function putFirst(bytes: Buffer, { directory }: TiffPage): void {
  if (bytes.toString('latin1', 0, 2) === 'II') bytes.writeUInt32LE(directory, NEXT_AT);
  else bytes.writeUInt32BE(directory, NEXT_AT);
}
