interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

/** `[Source 1]`, `[Source 1, Source 3]`, `[2]`. */
const CITATION = /\[(?:Sources?:?\s*)?(\d{1,3}(?:\s*,\s*(?:Source\s*)?\d{1,3})*)\]/gi;

/** The address of a citation within the page; what it opens is decided by the number alone. */
export const CITATION_LINK = '#source-';

function cut(text: string): Node[] {
  const parts: Node[] = [];
  let end = 0;
  for (const { 0: mark, 1: list = '', index } of text.matchAll(CITATION)) {
    parts.push({ type: 'text', value: text.slice(end, index) });
    for (const number of list.match(/\d+/g) ?? [])
      parts.push({
        type: 'link',
        url: `${CITATION_LINK}${number}`,
        children: [{ type: 'text', value: number }],
      });
    end = index + mark.length;
  }
  return [...parts, { type: 'text', value: text.slice(end) }];
}

function walk(node: Node): void {
  // Texts of code and of links stay as they are.
  if (node.children === undefined || node.type === 'link') return;
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text' && child.value !== undefined) return cut(child.value);
    walk(child);
    return [child];
  });
}

/** A plugin for remark: citations in the text become links. */
export function linkCitations() {
  return (tree: Node) => walk(tree);
}
