import type { TextItem } from '@llamaindex/liteparse';
import type { OPS as PdfOps, PDFDocumentProxy } from 'pdfjs-dist';
import { TRANSPARENT, isNearlyWhite } from './css-colors.js';
import { boxThrough, times, toMatrix } from './pdf-matrix.js';
import type { Box, Matrix } from './pdf-matrix.js';

/** What a reader sees of the text of a page. */
export interface VisibleText {
  width: number;
  height: number;
  /** In the order in which they are drawn. */
  items: TextItem[];
  /** Characters that are drawn and not seen. */
  hidden: number;
}

/** In points: smaller letters cannot be read. */
const TINY = 1;
/** Of the letters' size: how far they reach below and above their line. */
const BELOW = -0.22;
const ABOVE = 0.95;
/** A step to the left by more than this, in thousandths of the letters' size, is a space. */
const WIDE_STEP = -200;

/** What pdf.js shows: a sign, or a number for a step to the side, in thousandths of the font's size. */
export type Glyph = { unicode?: string; width?: number; isSpace?: boolean } | number | null;

interface State {
  matrix: Matrix;
  fill: string;
  stroke: string;
  opacity: number;
  mode: number;
  size: number;
  characterSpace: number;
  wordSpace: number;
  scale: number;
  rise: number;
  leading: number;
}

interface Run {
  text: string;
  box: Box;
  /** Of the letters, in points. */
  size: number;
  rotation: number;
  /** Drawn, in a colour that is not that of the paper. */
  inked: boolean;
  /** Drawn, but white. */
  faint: boolean;
}

const START: Omit<State, 'matrix'> = {
  fill: '#000000',
  stroke: '#000000',
  opacity: 1,
  mode: 0,
  size: 0,
  characterSpace: 0,
  wordSpace: 0,
  scale: 1,
  rise: 0,
  leading: 0,
};
/** How letters are drawn, by their render mode modulo 4 (PDF 1.7, table 106). */
const FILLS = new Set([0, 2]);
const STROKES = new Set([1, 2]);

/**
 * The text of a page by what pdf.js would draw. Left out is what is transparent, of a point or less, beside the page,
 * white on white, and what is not drawn at all, unless a picture lies at its place: OCR writes the text of a scan so.
 * What another thing covers, and what is cut away, is not known.
 *
 * @param pictured whether there are pictures on the page, which pdf.js may have left alone
 */
export async function readVisibleText(
  document: PDFDocumentProxy,
  number: number,
  pictured: boolean,
): Promise<VisibleText> {
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const page = await document.getPage(number);
  const { fnArray, argsArray } = await page.getOperatorList();
  const { width, height, transform } = page.getViewport({ scale: 1 });
  const fields = fieldsIn((await page.getAnnotations()) as Annotation[]);
  page.cleanup();
  const pen = createPen(toMatrix(transform), { left: 0, top: 0, right: width, bottom: height });
  const act = actionsOf(OPS, pen, fields);
  fnArray.forEach((operator, index) => act.get(operator)?.((argsArray[index] ?? []) as unknown[]));
  if (pictured && pen.pictures.length === 0) pen.everywhere();
  const isOn = ({ left, right, top, bottom }: Box, grounds: readonly Box[]): boolean => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return grounds.some(
      (ground) => x >= ground.left && x <= ground.right && y >= ground.top && y <= ground.bottom,
    );
  };
  const isSeen = ({ box, size, inked, faint }: Run): boolean => {
    if (size <= TINY || !isOn(box, [pen.page])) return false;
    if (inked) return true;
    return isOn(box, faint ? [...pen.pictures, ...pen.grounds] : pen.pictures);
  };
  const items: TextItem[] = [];
  let hidden = 0;
  for (const run of pen.runs)
    if (isSeen(run)) items.push(itemOf(run));
    else hidden += run.text.trim().length;
  return { width, height, items, hidden };
}

interface Annotation {
  id?: string;
  subtype?: string;
}

/** The fields of a form, whose values belong to the page's text. */
function fieldsIn(annotations: readonly Annotation[]): ReadonlySet<unknown> {
  return new Set(annotations.filter(({ subtype }) => subtype === 'Widget').map(({ id }) => id));
}

function itemOf({ text, box, size, rotation }: Run): TextItem {
  const { left: x, top: y, right, bottom } = box;
  return { text, x, y, width: right - x, height: bottom - y, fontSize: size, rotation, words: [] };
}

/** Things on a page whose places are looked at; behind them all is taken for a picture. */
const MAX_THINGS = 300;

function createPen(matrix: Matrix, page: Box) {
  let state: State = { matrix, ...START };
  const kept: State[] = [];
  let line: Matrix = [1, 0, 0, 1, 0, 0];
  let at: Matrix = line;
  const pictures: Box[] = [];
  const grounds: Box[] = [];
  const runs: Run[] = [];
  /** What goes on behind an annotation that is being drawn. */
  let outer: { state: State; depth: number } | null = null;
  let isPassedOver = false;
  const note = (list: Box[], box: Box): void => {
    if (list.length < MAX_THINGS) list.push(box);
    else list[0] = page;
  };
  const pen = {
    page,
    pictures,
    grounds,
    runs,
    /** An annotation begins in the state that a page begins in, at its own place. */
    annotate(isField: boolean, matrices: readonly unknown[]) {
      outer = { state, depth: kept.length };
      state = { matrix, ...START };
      isPassedOver = !isField;
      for (const own of matrices) if (own) pen.transform(toMatrix(own));
    },
    endAnnotation() {
      if (outer !== null) {
        state = outer.state;
        kept.length = Math.min(kept.length, outer.depth);
      }
      outer = null;
      isPassedOver = false;
    },
    set: (change: Partial<State>) => void (state = { ...state, ...change }),
    save: () => void kept.push(state),
    restore: () => void (state = kept.pop() ?? state),
    transform: (inner: Matrix) => pen.set({ matrix: times(state.matrix, inner) }),
    picture: () => note(pictures, boxThrough(state.matrix, [0, 0, 1, 1])),
    everywhere: () => note(pictures, page),
    ground(box: ArrayLike<number> | null) {
      if (isNearlyWhite(state.fill) || state.opacity < TRANSPARENT) return;
      note(grounds, box === null ? page : boxThrough(state.matrix, Array.from(box) as never));
    },
    place: (next: Matrix) => void (line = at = next),
    move: (x: number, y: number) => void (line = at = times(line, [1, 0, 0, 1, x, y])),
    nextLine: () => pen.move(0, -state.leading),
    show(glyphs: readonly Glyph[]) {
      const text = textOf(glyphs);
      const advance = advanceOf(glyphs, state);
      const through = times(times(state.matrix, at), [1, 0, 0, 1, 0, state.rise]);
      at = times(at, [1, 0, 0, 1, advance, 0]);
      if (isPassedOver || text.trim() === '') return;
      const size = Math.abs(state.size) * Math.hypot(through[2], through[3]);
      const mode = state.mode % 4;
      const inks = [...(FILLS.has(mode) ? [state.fill] : []), ...(STROKES.has(mode) ? [state.stroke] : [])];
      const shown = state.opacity >= TRANSPARENT;
      runs.push({
        text,
        box: boxThrough(through, [0, BELOW * state.size, advance, ABOVE * state.size]),
        size,
        rotation: (Math.atan2(through[1], through[0]) * 180) / Math.PI,
        inked: shown && inks.some((ink) => !isNearlyWhite(ink)),
        faint: shown && inks.length > 0,
      });
    },
  };
  return pen;
}

/** Wide steps to the right are spaces. */
export function textOf(glyphs: readonly Glyph[]): string {
  return glyphs
    .map((glyph) => (typeof glyph === 'number' ? (glyph < WIDE_STEP ? ' ' : '') : (glyph?.unicode ?? '')))
    .join('');
}

function advanceOf(glyphs: readonly Glyph[], state: State): number {
  let advance = 0;
  for (const glyph of glyphs)
    if (typeof glyph === 'number') advance -= (glyph / 1000) * state.size;
    else if (glyph !== null) {
      const space = state.characterSpace + (glyph.isSpace === true ? state.wordSpace : 0);
      advance += ((glyph.width ?? 0) / 1000) * state.size + space;
    }
  return advance * state.scale;
}

type Ops = typeof PdfOps;
type Action = (operands: unknown[]) => void;

function actionsOf(
  OPS: Ops,
  pen: ReturnType<typeof createPen>,
  fields: ReadonlySet<unknown>,
): ReadonlyMap<number, Action> {
  const number =
    (name: keyof State): Action =>
    ([value]) =>
      pen.set({ [name]: Number(value) });
  const form: Action = ([matrix]) => {
    pen.save();
    if (matrix) pen.transform(toMatrix(matrix));
  };
  const actions: [number[], Action][] = [
    [[OPS.save, OPS.beginGroup], pen.save],
    [[OPS.restore, OPS.endGroup, OPS.paintFormXObjectEnd], pen.restore],
    [[OPS.paintFormXObjectBegin], form],
    [[OPS.transform], (operands) => pen.transform(toMatrix(operands))],
    [[OPS.beginAnnotation], ([id, , transform, matrix]) => pen.annotate(fields.has(id), [transform, matrix])],
    [[OPS.endAnnotation], pen.endAnnotation],
    [[OPS.setFillRGBColor], ([color]) => pen.set({ fill: String(color) })],
    [[OPS.setStrokeRGBColor], ([color]) => pen.set({ stroke: String(color) })],
    // A pattern may be of any colour.
    [[OPS.setFillColorN], () => pen.set({ fill: 'pattern' })],
    [[OPS.setStrokeColorN], () => pen.set({ stroke: 'pattern' })],
    [[OPS.setGState], ([changes]) => pen.set(opacityIn(changes))],
    [[OPS.setTextRenderingMode], number('mode')],
    [[OPS.setFont], ([, size]) => pen.set({ size: Number(size) })],
    [[OPS.setCharSpacing], number('characterSpace')],
    [[OPS.setWordSpacing], number('wordSpace')],
    [[OPS.setHScale], ([percent]) => pen.set({ scale: Number(percent) / 100 })],
    [[OPS.setTextRise], number('rise')],
    [[OPS.setLeading], ([leading]) => pen.set({ leading: Number(leading) })],
    [[OPS.beginText], () => pen.place([1, 0, 0, 1, 0, 0])],
    [[OPS.setTextMatrix], ([matrix]) => pen.place(toMatrix(matrix))],
    [[OPS.moveText], ([x, y]) => pen.move(Number(x), Number(y))],
    [
      [OPS.setLeadingMoveText],
      ([x, y]) => {
        pen.set({ leading: -Number(y) });
        pen.move(Number(x), Number(y));
      },
    ],
    [[OPS.nextLine], pen.nextLine],
    [[OPS.showText], ([glyphs]) => pen.show((glyphs ?? []) as Glyph[])],
    [[OPS.paintImageXObject, OPS.paintInlineImageXObject, OPS.paintImageMaskXObject], pen.picture],
    [
      [
        OPS.shadingFill,
        OPS.paintImageXObjectRepeat,
        OPS.paintImageMaskXObjectRepeat,
        OPS.paintImageMaskXObjectGroup,
        OPS.paintInlineImageXObjectGroup,
        OPS.paintSolidColorImageMask,
      ],
      pen.everywhere,
    ],
    [
      [OPS.constructPath],
      ([paint, , box]) => {
        if (PAINTED.some((name) => OPS[name] === paint)) pen.ground(box as ArrayLike<number> | null);
      },
    ],
  ];
  return new Map(
    actions.flatMap(([operators, act]) => operators.map((operator) => [operator, act] as const)),
  );
}

const PAINTED = [
  'fill',
  'eoFill',
  'fillStroke',
  'eoFillStroke',
  'closeFillStroke',
  'closeEOFillStroke',
] as const;

function opacityIn(changes: unknown): Partial<State> {
  const own = (changes as [string, unknown][] | undefined)?.find(([name]) => name === 'ca')?.[1];
  return own === undefined ? {} : { opacity: Number(own) };
}
