import { attribute } from './word-attributes.js';

/** A run of text, with its own looks in front where it has such; one that lies within another begins anew. */
const RUN = /<w:r(?=[\s>])[^<>]*>(?:\s*<w:rPr(?:\s[^<>]*)?>)?/g;
const LOOKS_END = '</w:rPr>';
/** Where changes of looks are recorded, those that were before stand within those that are. */
const EARLIER_LOOKS = '<w:rPrChange';
const STYLE = /<w:rStyle\s[^<>]*>/;
const RUN_END = '</w:r>';
/** Looks are some hundred characters. */
const MAX_LOOKS = 4_000;

const WORDS = /(<w:t(?:\s[^<>]*)?>)([^<]*)(?=<\/w:t>)/g;
const VANISHED = /<w:(?:vanish|specVanish|webHidden)(?:\s[^<>]*)?\/>/g;
const SWITCHED_OFF = /w:val\s?=\s?["'](?:0|false|off)["']/;
/** In half points: one point and less. */
const TINY = /<w:sz\s[^<>]*w:val\s?=\s?["'][0-2]["']/;
const WHITE = /<w:color\s[^<>]*w:val\s?=\s?["'](?:f[4-9a-f]){3}["']/i;
/** What white letters may stand on: shades, marks, coloured pages, styled tables, text boxes, pictures behind. */
const BACKDROP =
  /<w:shd\s(?![^<>]*w:fill\s?=\s?["'](?:auto|ffffff)["'])|<w:highlight\s|<w:background\s|<w:tblStyle\s|<w:txbxContent|behindDoc\s?=\s?["']1/i;

const PARAGRAPH_TAGS = /<(\/?)w:(p|pPrChange)(?=[\s>])[^<>]*>|<w:pStyle\s[^<>]*>/g;

/** Answers the style of the paragraph at a place; asked from the first place to the last. */
function createStyleFinder(xml: string): (place: number) => string | undefined {
  const tags = xml.matchAll(PARAGRAPH_TAGS);
  let next = tags.next();
  /** The style of each paragraph that is open: those of text boxes stand within others. */
  const open: (string | undefined)[] = [];
  let isEarlier = false;
  const pass = ([tag, closing, name]: RegExpExecArray): void => {
    if (name === 'pPrChange') isEarlier = closing === '';
    else if (name === 'p' && closing === '') {
      if (!tag.endsWith('/>')) open.push(undefined);
    } else if (name === 'p') open.pop();
    else if (!isEarlier && open.length > 0) open[open.length - 1] ??= attribute(tag, 'w:val');
  };
  return (place) => {
    for (; !next.done && next.value.index < place; next = tags.next()) pass(next.value);
    return open.at(-1);
  };
}

interface Run {
  /** Its own looks, as XML. */
  looks: string;
  style: string | undefined;
  styleOfParagraph: string | undefined;
}

/** @param hiding the styles whose text is hidden */
function isHidden({ looks, style, styleOfParagraph }: Run, onPaper: boolean, hiding: Hiding): boolean {
  const vanished = looks.match(VANISHED) ?? [];
  if (vanished.some((tag) => !SWITCHED_OFF.test(tag)) || TINY.test(looks)) return true;
  // A style may have a shade of its own, which is not looked up.
  if (onPaper && style === undefined && styleOfParagraph === undefined && WHITE.test(looks)) return true;
  // Where both styles say it, it is switched on and off again.
  return vanished.length === 0 && hiding.has(style ?? '') !== hiding.has(styleOfParagraph ?? '');
}

type Hiding = ReadonlySet<string>;
const NONE: Hiding = new Set();

/**
 * The XML of a part of a Word document without the words that its readers do not see: runs marked as hidden, by
 * themselves or by a style, letters of a point and less, and white ones in a part that has nothing to set them off, in
 * paragraphs without a style. In linear time.
 *
 * @param drop told how many characters went
 * @param hiding the names of styles that hide their text
 */
export function withoutHiddenRuns(
  xml: string,
  drop?: (characters: number) => void,
  hiding: Hiding = NONE,
): string {
  if (hiding.size === 0 && !/<w:(?:vanish|specVanish|webHidden|sz|color)[\s/]/.test(xml)) return xml;
  const onPaper = !BACKDROP.test(xml);
  const styleAt = createStyleFinder(xml);
  let out = '';
  let at = 0;
  for (const { index, 0: opening } of xml.matchAll(RUN)) {
    const start = index + opening.length;
    if (start < at) continue;
    const looks = opening.includes('<w:rPr') ? looksAt(xml, start) : '';
    if (looks === null) continue;
    const style = STYLE.exec(looks);
    const run = {
      looks,
      style: style === null ? undefined : attribute(style[0], 'w:val'),
      styleOfParagraph: styleAt(index),
    };
    if (!isHidden(run, onPaper, hiding)) continue;
    const end = xml.indexOf(RUN_END, start);
    if (end === -1) break;
    let dropped = 0;
    out += xml.slice(at, start);
    out += xml.slice(start, end).replace(WORDS, (_words, open: string, text: string) => {
      dropped += text.length;
      return open;
    });
    drop?.(dropped);
    at = end;
  }
  return out + xml.slice(at);
}

/** Null where they have no end. */
function looksAt(xml: string, start: number): string | null {
  const looks = xml.slice(start, start + MAX_LOOKS);
  const length = looks.indexOf(LOOKS_END);
  return length === -1 ? null : looks.slice(0, length).split(EARLIER_LOOKS, 1)[0]!;
}
