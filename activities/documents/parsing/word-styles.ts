import { attribute } from './word-attributes.js';

/** What a style says itself; what it leaves out holds as in the style that it is based on. */
export interface Style {
  basedOn: string | undefined;
  name: string | undefined;
  list: string | undefined;
  /** In the list. */
  level: number | undefined;
  /** Depth of a heading, counted from 0; 9 is that of text. */
  outline: number | undefined;
  /** Whether it hides its text. */
  hides: boolean | undefined;
}

const MAX_STYLES = 20;

export function readStyles(xml: string): Map<string, Style> {
  const styles = xml.split(/(?=<w:style\s)/).slice(1);
  return new Map(
    styles.map((style) => [
      attribute(style.slice(0, style.indexOf('>') + 1), 'w:styleId') ?? '',
      {
        basedOn: valueOf(/<w:basedOn\s[^<>]*>/.exec(style)),
        name: valueOf(/<w:name\s[^<>]*>/.exec(style)),
        list: valueOf(/<w:numId\s[^<>]*>/.exec(style)),
        level: numberOf(/<w:ilvl\s[^<>]*>/.exec(style)),
        outline: numberOf(/<w:outlineLvl\s[^<>]*>/.exec(style)),
        hides: switchOf(/<w:vanish(?:\s[^<>]*)?\/>/.exec(style)),
      },
    ]),
  );
}

/** The styles of paragraphs and characters that hide their text. */
export function hidingStyles(styles: ReadonlyMap<string, Style>): Set<string> {
  const hides = (id: string): boolean | undefined => styles.get(id)?.hides;
  return new Set([...styles.keys()].filter((id) => firstOf(styleChain(id, styles), hides) === true));
}

/** A style and those that it is based on, the nearest first. */
export function styleChain(style: string | undefined, styles: ReadonlyMap<string, Style>): string[] {
  const chain: string[] = [];
  for (let id = style; id !== undefined && chain.length < MAX_STYLES; id = styles.get(id)?.basedOn)
    chain.push(id);
  return chain;
}

export function firstOf<T>(chain: readonly string[], find: (style: string) => T | undefined): T | undefined {
  for (const style of chain) {
    const found = find(style);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Of the tag that was found its `w:val`. */
export function valueOf(found: RegExpExecArray | null): string | undefined {
  return found === null ? undefined : attribute(found[0], 'w:val');
}

export function numberOf(found: RegExpExecArray | null): number | undefined {
  const value = valueOf(found);
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

function switchOf(found: RegExpExecArray | null): boolean | undefined {
  return found === null ? undefined : !/^(?:0|false|off)$/.test(valueOf(found) ?? '');
}
