import type { ParseNotes } from '../parse-notes.js';
import { attribute } from '../word-attributes.js';

interface Style {
  parent: string | undefined;
  hides: boolean | undefined;
}

/** By family and name: those of paragraphs and of spans have names of their own. */
export type OdfStyles = ReadonlyMap<string, Style>;

/** Hidden text may hold some that is seen; in a hidden section all is gone. */
type Sight = 'seen' | 'hidden' | 'gone';
type Lookup = (style: string) => boolean | undefined;

const MAX_STYLES = 20;
const HIDDEN_SECTION = /\stext:(?:display\s?=\s?["']none|is-hidden\s?=\s?["']true)["']/;
const TOKENS = /<(\/?)(text:(?:span|p|h|section))(?=[\s/>])[^<>]*>|<[^<>]*>|([^<]+)/g;

export function readOdfStyles(xml: string): OdfStyles {
  const styles = xml.split(/(?=<style:style\s)/).slice(1);
  return new Map(
    styles.map((all) => {
      const [style = ''] = all.split('</style:style>', 1);
      const tag = style.slice(0, style.indexOf('>') + 1);
      const family = attribute(tag, 'style:family') ?? '';
      const parent = attribute(tag, 'style:parent-style-name');
      const looks = /<style:text-properties\s[^<>]*>/.exec(style)?.[0] ?? '';
      const display = attribute(looks, 'text:display');
      return [
        `${family} ${attribute(tag, 'style:name')}`,
        {
          parent: parent === undefined ? undefined : `${family} ${parent}`,
          hides: display === undefined ? undefined : display === 'none',
        },
      ];
    }),
  );
}

/** A part of an OpenDocument without the text that its styles or sections hide. In linear time. */
export function withoutHiddenText(xml: string, styles: OdfStyles, notes: ParseNotes): string {
  const hides = createLookup(styles);
  if (![...styles.keys()].some(hides) && !xml.includes('<text:section')) return xml;
  /** Of each element that is open. */
  const open: Sight[] = [];
  let dropped = 0;
  const readable = xml.replace(TOKENS, (token: string, closing?: string, name?: string, text?: string) => {
    const around = open.at(-1) ?? 'seen';
    if (name !== undefined && closing !== '') open.pop();
    else if (name !== undefined && !token.endsWith('/>')) open.push(sightOf(token, name, around, hides));
    if (text === undefined || around === 'seen') return token;
    dropped += text.trim().length;
    return '';
  });
  notes.hide(dropped);
  return readable;
}

function createLookup(styles: OdfStyles): Lookup {
  return (style) => {
    let at: string | undefined = style;
    for (let i = 0; at !== undefined && i < MAX_STYLES; i++) {
      const found: Style | undefined = styles.get(at);
      if (found?.hides !== undefined) return found.hides;
      at = found?.parent;
    }
    return undefined;
  };
}

function sightOf(tag: string, name: string, around: Sight, hides: Lookup): Sight {
  if (around === 'gone') return around;
  if (name === 'text:section') return HIDDEN_SECTION.test(tag) ? 'gone' : around;
  const family = name === 'text:span' ? 'text' : 'paragraph';
  const own = hides(`${family} ${attribute(tag, 'text:style-name')}`);
  return own === undefined ? around : own ? 'hidden' : 'seen';
}
