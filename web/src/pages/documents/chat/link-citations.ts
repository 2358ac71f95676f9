interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

/** `[Source 1, Source 3]`, `[Sources: 1 and 3]`, `(Source 1)`, `【Source 1】`, `[Source 1: pump.pdf]`, `[2]`. */
const CITATION =
  /([[(【])(Sources?:?\s*)?(\d{1,3}(?:\s*(?:[,;&–-]|and|et)\s*(?:Source\s*)?\d{1,3})*)(\s*[:|†][^\][()【】\n]{0,200})?([\])】])/gi;
const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '【': '】' };
/** Numbers that no "Source" stands before are a mark between square brackets alone, and as a plain list. */
const PLAIN_LIST = /^\d+(?:\s*[,;]\s*\d+)*$/;

/** The address of a citation within the page; what it opens is decided by the number alone. */
export const CITATION_LINK = '#source-';

/** The marks of sources that the answer has: other numbers in brackets are what the answer says, and stay. */
function cut(text: string, known: ReadonlySet<number>): Node[] {
  const parts: Node[] = [];
  let rest = '';
  let end = 0;
  for (const found of text.matchAll(CITATION)) {
    const [mark, open = '', name, list = '', more = '', close = ''] = found;
    if (CLOSING[open] !== close) continue;
    if (name === undefined && (open !== '[' || more !== '' || !PLAIN_LIST.test(list))) continue;
    const numbers = (list.match(/\d+/g) ?? []).map(Number);
    if (!numbers.every((number) => known.has(number))) continue;
    const between = list.split(/\d+/).map((sign) => (/[–-]/.test(sign) ? '–' : ', '));
    rest += text.slice(end, found.index);
    for (const [place, number] of numbers.entries()) {
      parts.push(
        { type: 'text', value: `${rest}${place === 0 ? open : between[place]}` },
        {
          type: 'link',
          url: `${CITATION_LINK}${number}`,
          children: [{ type: 'text', value: String(number) }],
        },
      );
      rest = '';
    }
    rest = more + close;
    end = found.index + mark.length;
  }
  return [...parts, { type: 'text', value: rest + text.slice(end) }];
}

function walk(node: Node, known: ReadonlySet<number>): void {
  // Texts of code and of links stay as they are.
  if (node.children === undefined || node.type === 'link') return;
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text' && child.value !== undefined) return cut(child.value, known);
    walk(child, known);
    return [child];
  });
}

/**
 * A plugin for remark: citations in the text become links.
 *
 * @param options.known the numbers of the answer's sources; none while it is still written
 */
export function linkCitations({ known }: { known: ReadonlySet<number> }) {
  return (tree: Node) => walk(tree, known);
}
