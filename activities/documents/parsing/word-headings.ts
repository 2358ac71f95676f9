import { firstOf, numberOf, styleChain, valueOf } from './word-styles.js';
import type { Style } from './word-styles.js';

const PARAGRAPH = /<w:p(?:\s[^<>]*)?>\s*<w:pPr(?:\s[^<>]*)?>/g;
/** Of text that is no heading. */
const TEXT_LEVEL = 9;
/** Of headings of HTML. */
const MAX_DEPTH = 6;
/** Contracts have an outline level for whole clauses, so that they are counted. */
const MAX_HEADING = 200;

/**
 * The XML of a Word document with each heading in a style of Word's own: mammoth goes by the names of these, while
 * houses have styles that are based on them, or give an outline level to any style or paragraph.
 */
export function withHeadingStyles(xml: string, styles: ReadonlyMap<string, Style>): string {
  const depths = depthsOf(styles);
  if (depths.size === 0 && !xml.includes('<w:outlineLvl')) return xml;
  let out = '';
  let at = 0;
  const matches = xml.matchAll(PARAGRAPH);
  for (let here = matches.next(), after; !here.done; here = after) {
    after = matches.next();
    const start = here.value.index + here.value[0].length;
    const paragraph = xml.slice(start, after.done ? xml.length : after.value.index);
    const depth = depthOf(paragraph, depths);
    if (depth === undefined) continue;
    // The first style of a paragraph is what mammoth takes.
    out += `${xml.slice(at, start)}<w:pStyle w:val="Heading${depth}"/>`;
    at = start;
  }
  return out + xml.slice(at);
}

/** @param paragraph from behind the start of its properties */
function depthOf(paragraph: string, depths: ReadonlyMap<string, number>): number | undefined {
  const end = paragraph.indexOf('</w:pPr>');
  if (end < 0) return undefined;
  const [properties = ''] = paragraph.slice(0, end).split('<w:pPrChange', 1);
  const style = valueOf(/<w:pStyle\s[^<>]*>/.exec(properties)) ?? '';
  const own = numberOf(/<w:outlineLvl\s[^<>]*>/.exec(properties));
  const depth = own === undefined || own >= TEXT_LEVEL ? depths.get(style) : depthAt(own);
  return depth === undefined || isLong(paragraph.slice(end)) ? undefined : depth;
}

function isLong(paragraph: string): boolean {
  const [own = ''] = paragraph.split('</w:p>', 1);
  return own.replace(/<[^<>]*>/g, '').length > MAX_HEADING;
}

/** How deep the headings of a style are, counted from 1, for those that have headings. */
function depthsOf(styles: ReadonlyMap<string, Style>): Map<string, number> {
  const outlineOf = (id: string): number | undefined => {
    const { outline, name } = styles.get(id) ?? {};
    const named = /^heading ([1-9])$/i.exec(name ?? '')?.[1];
    return outline ?? (named === undefined ? undefined : Number(named) - 1);
  };
  return new Map(
    [...styles.keys()].flatMap((id) => {
      const outline = firstOf(styleChain(id, styles), outlineOf);
      return outline === undefined || outline >= TEXT_LEVEL ? [] : [[id, depthAt(outline)]];
    }),
  );
}

function depthAt(outline: number): number {
  return Math.min(MAX_DEPTH, outline + 1);
}
