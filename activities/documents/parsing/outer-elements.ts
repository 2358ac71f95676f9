interface Span {
  start: number;
  end: number;
}

/** Where elements stand that lie within no other of theirs; in linear time. */
function outerSpans(xml: string, tags: RegExp): Span[] {
  const found: Span[] = [];
  let depth = 0;
  let start = 0;
  for (const { index, 0: tag, 1: closing } of xml.matchAll(tags)) {
    if (tag.endsWith('/>')) continue;
    if (closing === '' && depth++ === 0) start = index;
    if (closing !== '' && depth > 0 && --depth === 0) found.push({ start, end: index + tag.length });
  }
  return found;
}

/** @param tags finds the tags of the wanted elements, with the stroke of those that close as its first group */
export function outerElements(xml: string, tags: RegExp): string[] {
  return outerSpans(xml, tags).map(({ start, end }) => xml.slice(start, end));
}

/** @param tags as for `outerElements` */
export function replaceOuter(xml: string, tags: RegExp, replace: (element: string) => string): string {
  let out = '';
  let at = 0;
  for (const { start, end } of outerSpans(xml, tags)) {
    out += xml.slice(at, start) + replace(xml.slice(start, end));
    at = end;
  }
  return out + xml.slice(at);
}
