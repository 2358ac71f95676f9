import { withPlainNames } from './pdf-dictionary.js';
import type { PdfEntries } from './pdf-dictionary.js';
import { isPredicted, unpredicted } from './pdf-predictor.js';
import { inflate, readPdfWindows } from './pdf-streams.js';

const WINDOW = 1024 * 1024;
const MAX_STREAMS = 20_000;
/** What is no drawing: fonts, colour profiles, tables of objects. */
const NO_DRAWING = ['Length1', 'Length2', 'Length3', 'FunctionType', 'Alternate', 'Metadata'];
/** How pictures alone are packed, and what they are packed in besides. */
const PICTURE_FILTER = /^\[?\s{0,9}((?:\/\w{1,20}\s{0,9}){0,5})\/(?:DCT|JPX|CCITTFax|JBIG2)Decode\s{0,9}\]?$/;
const FLATE = /^\[?\s{0,9}\/Fl(?:ateDecode)?\s{0,9}\]?$/;
const SAMPLE = 2048;
/** More of it, and it is no text. */
const MAX_BINARY = 0.1;
const BEGINS_TEXT = /(?<![^\s>\])])BT(?=[\s/(<[])/g;
const SHOWS_TEXT = /[)>\]\s]T[jJ](?=[\s/(<[]|$)/g;
const ENDS_TEXT = /(?<![^\s>\])])ET(?=\s|$)/g;
/** Colour spaces whose numbers may stand for any colour. */
const INKS = /\/(?:Separation|DeviceN|Indexed|Lab)\b/;
const DEVICE_SPACES = new Set(['/DeviceGray', '/DeviceRGB', '/DeviceCMYK', '/Pattern']);
const TRANSPARENT = /\/(?:ca|CA)\s{1,9}0?\.?0{0,9}[0-4]?\d{0,9}[\s/>]/;
/** Of 1: lighter on white paper cannot be read. */
const NEARLY_WHITE = 0.956;

/**
 * Whether a PDF may hold text that its readers do not see: drawn in white, in no colour (render modes 3 and 7) or
 * transparent. Says yes also of white letters on a dark ground, and where it cannot tell: what is so is looked up page
 * by page, which takes as long again as reading the file. Reads the operators alone, in linear time.
 */
export async function mayHideText(path: string): Promise<boolean> {
  let looked = 0;
  let tinted = false;
  let hasInks = false;
  for await (const { bytes, streams } of readPdfWindows(path, WINDOW)) {
    const around = withPlainNames(bytes.toString('latin1'));
    if (around.includes('/Encrypt') || TRANSPARENT.test(around)) return true;
    hasInks ||= INKS.test(around);
    for (const { dictionary, packed } of streams) {
      if (dictionary === null || ++looked > MAX_STREAMS) return true;
      const content = readContent(dictionary, packed);
      if (content === null) return true;
      // What says that it holds objects is drawn all the same where a page names it.
      if (dictionary.get('Type') === '/ObjStm') {
        const objects = withPlainNames(content);
        if (TRANSPARENT.test(objects)) return true;
        hasInks ||= INKS.test(objects);
      }
      const drawn = lookAt(content);
      if (drawn.unseen) return true;
      tinted ||= drawn.tinted;
    }
  }
  return tinted && hasInks;
}

/**
 * Empty where the stream is no drawing, null where it cannot be told. What a dictionary says decides nothing where the
 * stream is drawn all the same: keys that do not belong there are passed over by whatever shows the page.
 */
function readContent(dictionary: PdfEntries, packed: Buffer): string | null {
  // In the dictionary of a stream these are of a file elsewhere; some readers take them for short names.
  if (dictionary.has('F') || dictionary.has('DP')) return null;
  const { packing, isPicture } = packingOf(dictionary.get('Filter') ?? '');
  if (packing === null) return null;
  const isPlain = packing === 'plain';
  const isNoDrawing = isPicture || saysNoDrawing(dictionary);
  if (!isPlain && isPredicted(dictionary)) return isNoDrawing && !mayBeDrawn(dictionary, packed) ? '' : null;
  const content = isPlain ? ownBytes(packed) : inflate(packed);
  if (!isNoDrawing) return content;
  return looksDrawn(content ?? beginning(packed, isPlain)) ? content : '';
}

/** How bytes are packed in front of a picture's filter, where there is one: PDFium stops at it, and draws them. */
function packingOf(filter: string): { packing: 'plain' | 'flate' | null; isPicture: boolean } {
  const picture = PICTURE_FILTER.exec(filter);
  const first = (picture?.[1] ?? filter).trimEnd();
  const isPlain = first === '' || first === '[]';
  return { packing: isPlain ? 'plain' : FLATE.test(first) ? 'flate' : null, isPicture: picture !== null };
}

/** What differs from row to row is not read to its end here. */
function mayBeDrawn(dictionary: PdfEntries, packed: Buffer): boolean {
  const start = Buffer.from(beginning(packed, false).slice(0, SAMPLE), 'latin1');
  const meant = unpredicted(dictionary, start);
  return meant === null || looksDrawn(meant.toString('latin1'));
}

function beginning(packed: Buffer, isPlain: boolean): string {
  return isPlain ? packed.toString('latin1', 0, SAMPLE) : (inflate(packed.subarray(0, SAMPLE)) ?? '');
}

function saysNoDrawing(dictionary: PdfEntries): boolean {
  const kind = dictionary.get('Subtype') ?? '/Form';
  return (
    kind !== '/Form' ||
    ['/XRef', '/Metadata'].includes(dictionary.get('Type') ?? '') ||
    NO_DRAWING.some((key) => dictionary.has(key))
  );
}

/** Text is shown in it, or it is hardly anything but words and numbers. */
function looksDrawn(content: string): boolean {
  const start = content.slice(0, SAMPLE);
  const binary = start.match(/[^\t\n\f\r -~]/g)?.length ?? 0;
  if (start !== '' && binary < start.length * MAX_BINARY) return true;
  let at = 0;
  return [BEGINS_TEXT, SHOWS_TEXT, ENDS_TEXT].every((operator) => {
    operator.lastIndex = at;
    const found = operator.test(content);
    at = operator.lastIndex;
    return found;
  });
}

/** Null where it is too long. */
function ownBytes(packed: Buffer): string | null {
  const end = packed.indexOf('endstream');
  if (end < 0 && packed.length >= WINDOW) return null;
  return (end < 0 ? packed : packed.subarray(0, end)).toString('latin1');
}

interface Pen {
  white: boolean;
  /** Its colour stands in a colour space of the document. */
  tinted: boolean;
  invisible: boolean;
}

function isLight(parts: readonly number[]): boolean {
  return parts.length > 0 && parts.every((part) => part >= NEARLY_WHITE);
}

/** Four parts are inks, of which white has none. */
function isWhite(parts: readonly number[]): boolean {
  return parts.length === 4 ? parts.every((part) => part <= 1 - NEARLY_WHITE) : isLight(parts);
}

/** What changes how letters look, by its operator. */
const LOOKS: Readonly<Record<string, (pen: Pen, operands: readonly number[]) => Partial<Pen>>> = {
  g: (_pen, operands) => ({ white: isLight(operands.slice(-1)), tinted: false }),
  rg: (_pen, operands) => ({ white: isLight(operands.slice(-3)), tinted: false }),
  k: (_pen, operands) => ({ white: isWhite(operands.slice(-4)), tinted: false }),
  sc: (_pen, operands) => ({ white: isWhite(operands.slice(-4)) }),
  scn: (_pen, operands) => ({ white: isWhite(operands.slice(-4)) }),
  Tr: (_pen, operands) => ({ invisible: [3, 7].includes(operands.at(-1) ?? 0) }),
};
const SHOWS = new Set(['Tj', 'TJ', "'", '"', 'Do']);

/**
 * Whether a content stream shows text, or a form, while the pen is white or invisible, or leaves it so; and whether it
 * does so in a colour that only the document's colour spaces tell.
 */
function lookAt(content: string): { unseen: boolean; tinted: boolean } {
  let pen: Pen = { white: false, tinted: false, invisible: false };
  const kept: Pen[] = [];
  let operands: number[] = [];
  let name = '';
  let tinted = false;
  for (const token of tokensOf(content)) {
    const number = Number(token);
    if (!Number.isNaN(number)) {
      operands.push(number);
      continue;
    }
    if (token.startsWith('/')) {
      name = token;
      continue;
    }
    if (SHOWS.has(token)) {
      if (pen.white || pen.invisible) return { unseen: true, tinted };
      tinted ||= pen.tinted;
    }
    if (token === 'q') kept.push(pen);
    else if (token === 'Q') pen = kept.pop() ?? pen;
    else if (token === 'cs') pen = { ...pen, tinted: !DEVICE_SPACES.has(name) };
    else pen = { ...pen, ...LOOKS[token]?.(pen, operands) };
    operands = [];
  }
  return { unseen: pen.white || pen.invisible, tinted: tinted || pen.tinted };
}

const DELIMITER = /[\s()<>[\]{}/%]/;
function isRegular(content: string, at: number): boolean {
  return at < content.length && !DELIMITER.test(content[at]!);
}

/** Numbers, names and operators; strings, comments and the bytes of inline pictures are passed over. */
function* tokensOf(content: string): Generator<string> {
  for (let at = 0; at < content.length;) {
    const skipped = skip(content, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const start = at++;
    while (isRegular(content, at)) at++;
    const token = content.slice(start, at);
    if (token === 'ID') at = endOf(content, 'EI', at);
    else yield token;
  }
}

/** Behind what stands there, if it is neither a number nor an operator. */
function skip(content: string, at: number): number {
  switch (content[at]) {
    case '(':
      return skipString(content, at);
    case '<':
      return content[at + 1] === '<' ? at + 2 : endOf(content, '>', at);
    case '%':
      return endOf(content, '\n', at);
    case '/':
      return at;
    default:
      return isRegular(content, at) ? at : at + 1;
  }
}

function endOf(content: string, mark: string, from: number): number {
  const found = content.indexOf(mark, from);
  return found < 0 ? content.length : found + mark.length;
}

function skipString(content: string, from: number): number {
  let depth = 0;
  for (let at = from; at < content.length; at++) {
    const sign = content[at];
    if (sign === '\\') at++;
    else if (sign === '(') depth++;
    else if (sign === ')' && --depth === 0) return at + 1;
  }
  return content.length;
}
