/** A run of text with its own looks in front; one that lies within another begins anew. */
const RUN = /<w:r(?=[\s>])[^<>]*>\s*<w:rPr(?:\s[^<>]*)?>/g;
const LOOKS_END = '</w:rPr>';
/** Where changes of looks are recorded, those that were before stand within those that are. */
const EARLIER_LOOKS = '<w:rPrChange';
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

/** So far back the properties of a run's paragraph are looked for. */
const MAX_BACK = 1_500;

/** A style may have a shade of its own, which is not looked up. */
function hasStyle(xml: string, run: number, looks: string): boolean {
  const before = xml.slice(Math.max(0, run - MAX_BACK), run);
  return looks.includes('<w:rStyle') || before.lastIndexOf('<w:pStyle') > before.lastIndexOf('</w:p>');
}

function isHidden(looks: string, onPaper: boolean): boolean {
  const vanished = (looks.match(VANISHED) ?? []).some((tag) => !SWITCHED_OFF.test(tag));
  return vanished || TINY.test(looks) || (onPaper && WHITE.test(looks));
}

/**
 * The XML of a part of a Word document without the words that its readers do not see: runs marked as hidden, letters of
 * a point and less, and white ones in a part that has nothing to set them off, in paragraphs without a style.
 * In linear time.
 *
 * @param drop told how many characters went
 */
export function withoutHiddenRuns(xml: string, drop?: (characters: number) => void): string {
  if (!/<w:(?:vanish|specVanish|webHidden|sz|color)[\s/]/.test(xml)) return xml;
  const onPaper = !BACKDROP.test(xml);
  let out = '';
  let at = 0;
  for (const { index, 0: opening } of xml.matchAll(RUN)) {
    const start = index + opening.length;
    if (start < at) continue;
    const looks = xml.slice(start, start + MAX_LOOKS);
    const length = looks.indexOf(LOOKS_END);
    if (length === -1) continue;
    const [own = ''] = looks.slice(0, length).split(EARLIER_LOOKS, 1);
    if (!isHidden(own, onPaper && !hasStyle(xml, index, own))) continue;
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
