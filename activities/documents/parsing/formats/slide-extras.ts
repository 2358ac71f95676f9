import { attribute } from '../word-attributes.js';
import { replaceElements, unescapeXml } from '../word-package.js';

/** What a part that a slide refers to says, by the last word of the relationship's type; nothing for other parts. */
export async function saidBeside(type: string, read: () => Promise<string>): Promise<string[]> {
  if (type === 'diagramData') return paragraphsOf(await read());
  if (type === 'chart') return chartLines(await read());
  if (type === 'comments') return commentLines(await read());
  return [];
}

/** Shapes that older programs show otherwise, such as those with an equation: the reader passes them over. */
export function saidInAlternatives(slide: string): string[] {
  return elementsOf(slide, 'mc:Choice').flatMap(paragraphsOf);
}

function paragraphsOf(xml: string): string[] {
  return xml.split('</a:p>').flatMap((paragraph) => {
    const words = [...paragraph.matchAll(/<(?:a|m):t(?:\s[^<>]*)?>([^<]*)<\/(?:a|m):t>/g)];
    const text = words.map((found) => unescapeXml(found[1]!)).join('');
    return text.trim() === '' ? [] : [text];
  });
}

/** The comments of PowerPoint before 2021 and since. */
function commentLines(xml: string): string[] {
  const before = [...xml.matchAll(/<p:text>([^<]*)<\/p:text>/g)].map((found) => unescapeXml(found[1]!));
  return [...before, ...paragraphsOf(xml)].map((text) => `Comment: ${text}`);
}

/** Titles, then each series with the values that were shown last: "Sales: 2023 42; 2024 50". */
function chartLines(xml: string): string[] {
  const titles = elementsOf(xml, 'c:title').flatMap(paragraphsOf);
  const series = elementsOf(xml, 'c:ser').map((one) => {
    const name = [...pointsOf(one, 'c:tx').values()].join(' ');
    const categories = new Map([...pointsOf(one, 'c:cat'), ...pointsOf(one, 'c:xVal')]);
    const values = new Map([...pointsOf(one, 'c:val'), ...pointsOf(one, 'c:yVal')]);
    const pairs = [...values].map(([at, value]) => `${categories.get(at) ?? ''} ${value}`.trim());
    return `${name === '' ? '' : `${name}: `}${pairs.join('; ')}`;
  });
  return [...titles, ...series].filter((line) => line !== '');
}

/** The stored values of a part of a series by their places; of categories in several levels the innermost. */
function pointsOf(series: string, name: string): Map<string, string> {
  const points = new Map<string, string>();
  for (const point of (elementsOf(series, name)[0] ?? '').split(/(?=<c:pt\s)/)) {
    const at = attribute(point.slice(0, point.indexOf('>') + 1), 'idx') ?? '';
    const value = /<c:v>([^<]*)<\/c:v>/.exec(point)?.[1];
    if (value !== undefined && !points.has(at)) points.set(at, unescapeXml(value));
  }
  return points;
}

function elementsOf(xml: string, name: string): string[] {
  const found: string[] = [];
  replaceElements(xml, name, (element) => {
    found.push(element);
    return '';
  });
  return found;
}
