import { formatNumber } from './word-number-formats.js';
import { attribute } from './word-attributes.js';
import { firstOf, numberOf, styleChain, valueOf } from './word-styles.js';
import type { Style } from './word-styles.js';

/** How the paragraphs at one depth of a list are numbered (ECMA-376 part 1, section 17.9). */
interface Level {
  start: number;
  format: string;
  /** `%1` stands for the number of the first level, and so on; as it is escaped in the XML. */
  text: string;
  style: string | undefined;
  /** Numbers of all levels are shown as decimal ones. */
  legal: boolean;
  /** The level, counted from 1, behind which this one begins anew; 0 for none, undefined for any above it. */
  restart: number | undefined;
}

interface List {
  /** Lists of one definition count on together. */
  definition: string;
  levels: ReadonlyMap<number, Level>;
  /** Where this list begins anew when it is first used. */
  starts: ReadonlyMap<number, number>;
}

interface Place {
  list: string;
  level: number;
}

const LEVELS = 9;
/** What stands around the numbers is some characters; a longer text would come with every paragraph. */
const MAX_TEXT = 100;

const PARAGRAPH = /<w:p(?:\s[^<>]*)?>\s*<w:pPr(?:\s[^<>]*)?>|<\/?mc:Choice(?:\s[^<>]*)?>/g;
const PROPERTIES_END = '</w:pPr>';
const NO_LIST = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>';

/**
 * The XML of a Word document with the numbers of its paragraphs, which Word counts when it shows them, as text in front
 * of each. Bullets stay as they are.
 *
 * @param numbering the part that defines the lists
 * @param styles may number the paragraphs that have them
 */
export function withNumbers(xml: string, numbering: string, styles: ReadonlyMap<string, Style>): string {
  const labelOf = createLabels(numbering, styles);
  if (labelOf === null) return xml;
  let out = '';
  let at = 0;
  let choices = 0;
  const matches = xml.matchAll(PARAGRAPH);
  for (let here = matches.next(), after; !here.done; here = after) {
    after = matches.next();
    const { index, 0: opening } = here.value;
    if (opening.includes('mc:Choice')) choices += opening.startsWith('</') ? -1 : 1;
    // The same stands in the alternative, which is what is read.
    if (choices > 0 || opening.includes('mc:Choice')) continue;
    const start = index + opening.length;
    const paragraph = readParagraph(xml.slice(start, after.done ? xml.length : after.value.index));
    const label = paragraph && labelOf(paragraph.properties);
    if (paragraph === null || label === null) continue;
    out += xml.slice(at, start) + withoutList(paragraph.properties) + NO_LIST + paragraph.rest;
    if (label !== '' && paragraph.hasText) out += `<w:r><w:t xml:space="preserve">${label} </w:t></w:r>`;
    at = start + paragraph.length;
  }
  return out + xml.slice(at);
}

/** Gives what stands in front of the next paragraph by its properties: null for what the reader shows as it is. */
function createLabels(
  numbering: string,
  styles: ReadonlyMap<string, Style>,
): ((properties: string) => string | null) | null {
  const lists = readLists(numbering, styles);
  if (lists.size === 0) return null;
  const placeOf = createPlaces(lists, styles);
  const next = createCounters();
  let belowNumber = false;
  return (properties) => {
    const place = placeOf(properties);
    const list = place === null ? undefined : lists.get(place.list);
    const format = list?.levels.get(place!.level)?.format;
    if (place === null || list === undefined || format === undefined) {
      belowNumber = false;
      return null;
    }
    // A bullet within an item whose list was taken away would be a list within an empty one.
    if (format === 'bullet') return belowNumber && place.level > 0 ? '-' : null;
    belowNumber = true;
    return next(place, list);
  };
}

interface Paragraph {
  /** Those that hold now, and what they were before a change that was recorded. */
  properties: string;
  rest: string;
  /** Of all properties with their end. */
  length: number;
  hasText: boolean;
}

/** From behind the start of its properties; null for one that is no paragraph of its own or not to be seen. */
function readParagraph(xml: string): Paragraph | null {
  const change = xml.indexOf('<w:pPrChange');
  const first = xml.indexOf(PROPERTIES_END);
  const changed = change >= 0 && change < first;
  const end = changed ? xml.indexOf(PROPERTIES_END, xml.indexOf('</w:pPrChange>', first)) : first;
  if (end < 0) return null;
  const length = end + PROPERTIES_END.length;
  const properties = xml.slice(0, changed ? change : end);
  const close = xml.indexOf('</w:p>', length);
  const hasText = /<(?:w:t|m:t|w:sym)(?:\s[^<>]*)?>[^<]|<w:drawing/.test(
    xml.slice(length, close < 0 ? xml.length : close),
  );
  // Where the end of a paragraph was deleted it is one with the next.
  if (/<w:del\s/.test(properties) || (!hasText && /<w:vanish\s?\/>/.test(properties))) return null;
  return { properties, rest: xml.slice(properties.length, length), length, hasText };
}

function withoutList(properties: string): string {
  const start = properties.indexOf('<w:numPr>');
  const end = properties.indexOf('</w:numPr>', start);
  return start < 0 || end < 0
    ? properties
    : properties.slice(0, start) + properties.slice(end + '</w:numPr>'.length);
}

function createPlaces(
  lists: ReadonlyMap<string, List>,
  styles: ReadonlyMap<string, Style>,
): (properties: string) => Place | null {
  return (properties) => {
    const chain = styleChain(valueOf(/<w:pStyle\s[^<>]*>/.exec(properties)), styles);
    const list =
      valueOf(/<w:numId\s[^<>]*>/.exec(properties)) ?? firstOf(chain, (style) => styles.get(style)?.list);
    if (list === undefined) return null;
    const levels = [...(lists.get(list)?.levels ?? [])];
    const ofStyle = (name: string): number | undefined =>
      levels.find(([, { style }]) => style === name)?.[0] ?? styles.get(name)?.level;
    return { list, level: numberOf(/<w:ilvl\s[^<>]*>/.exec(properties)) ?? firstOf(chain, ofStyle) ?? 0 };
  };
}

function readLists(xml: string, styles: ReadonlyMap<string, Style>): Map<string, List> {
  const parts = xml.split(/(?=<w:(?:abstractNum|num)\s)/).slice(1);
  const definitions = new Map<string, { levels: Map<number, Level>; link: string | undefined }>();
  const lists = new Map<string, { definition: string; overrides: string[] }>();
  for (const part of parts) {
    const tag = part.slice(0, part.indexOf('>') + 1);
    const definition = attribute(tag, 'w:abstractNumId');
    const link = valueOf(/<w:numStyleLink\s[^<>]*>/.exec(part));
    if (definition !== undefined) definitions.set(definition, { levels: readLevels(part), link });
    else
      lists.set(attribute(tag, 'w:numId') ?? '', {
        definition: valueOf(/<w:abstractNumId\s[^<>]*>/.exec(part)) ?? '',
        overrides: part.split(/(?=<w:lvlOverride\s)/).slice(1),
      });
  }
  return new Map(
    [...lists].map(([id, { definition, overrides }]) => {
      const link = definitions.get(definition)?.link;
      const linked = link === undefined ? undefined : lists.get(styles.get(link)?.list ?? '')?.definition;
      const own = linked ?? definition;
      const levels = new Map(definitions.get(own)?.levels);
      const starts = new Map<number, number>();
      for (const override of overrides) {
        const start = numberOf(/<w:startOverride\s[^<>]*>/.exec(override));
        const level = Number(attribute(override.slice(0, override.indexOf('>') + 1), 'w:ilvl'));
        if (start !== undefined) starts.set(level, start);
        for (const [at, changed] of readLevels(override)) levels.set(at, changed);
      }
      return [id, { definition: own, levels, starts }];
    }),
  );
}

function readLevels(xml: string): Map<number, Level> {
  const levels = xml.split(/(?=<w:lvl[\s>])/).slice(1);
  return new Map(
    levels.map((level) => {
      const text = valueOf(/<w:lvlText\s[^<>]*>/.exec(level)) ?? '';
      return [
        Number(attribute(level.slice(0, level.indexOf('>') + 1), 'w:ilvl') ?? 0),
        {
          start: numberOf(/<w:start\s[^<>]*>/.exec(level)) ?? 0,
          format: valueOf(/<w:numFmt\s[^<>]*>/.exec(level)) ?? 'decimal',
          text: text.length > MAX_TEXT ? '' : text,
          style: valueOf(/<w:pStyle\s[^<>]*>/.exec(level)),
          legal: /<w:isLgl\s?\/>/.test(level),
          restart: numberOf(/<w:lvlRestart\s[^<>]*>/.exec(level)),
        },
      ];
    }),
  );
}

/** Gives the number of the next paragraph at a place. */
function createCounters(): (place: Place, list: List) => string {
  const counters = new Map<string, (number | undefined)[]>();
  const begun = new Set<string>();
  return ({ list: id, level }, { definition, levels, starts }) => {
    const counts = counters.get(definition) ?? [];
    counters.set(definition, counts);
    const startOf = (at: number): number => starts.get(at) ?? levels.get(at)?.start ?? 1;
    const first = starts.has(level) && !begun.has(`${id} ${level}`);
    begun.add(`${id} ${level}`);
    const last = counts[level];
    counts[level] = last === undefined || first ? startOf(level) : last + 1;
    for (let below = level + 1; below < LEVELS; below++)
      if (level < (levels.get(below)?.restart ?? below)) counts[below] = undefined;
    const { text, legal } = levels.get(level)!;
    return text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      const format = levels.get(at)?.format ?? 'decimal';
      return formatNumber(counts[at] ?? startOf(at), legal ? 'decimal' : format);
    });
  };
}
