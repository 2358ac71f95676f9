const SHAPES = /<(\/?)(?:mc:AlternateContent|w:drawing)(?=[\s/>])[^<>]*>/g;
const BRANCHES = /<(\/?)mc:(?:Choice|Fallback)(?=[\s/>])[^<>]*>/g;
const BOXES = /<(\/?)w:txbxContent(?=[\s/>])[^<>]*>/g;

/**
 * The XML of a part of a Word document with its text boxes where mammoth looks for them: it knows those that are drawn
 * as Word did before 2010 alone, which Word writes as the fallback of each box and other programs do not.
 */
export function withOldTextBoxes(xml: string): string {
  return xml.includes('<w:txbxContent') ? replaceOuter(xml, SHAPES, asOldBox) : xml;
}

function asOldBox(shape: string): string {
  if (!shape.includes('<w:txbxContent')) return shape;
  if (shape.startsWith('<w:drawing')) {
    const boxes: string[] = [];
    const drawing = replaceOuter(shape, BOXES, (box) => {
      boxes.push(box);
      return '';
    });
    return drawing + oldBox(boxes);
  }
  const branches = outerElements(shape, BRANCHES).map(({ start, end }) => shape.slice(start, end));
  const boxesOf = branches.map((branch) =>
    outerElements(branch, BOXES).map(({ start, end }) => branch.slice(start, end)),
  );
  const isRead = branches.some((branch, i) => branch.startsWith('<mc:Fallback') && boxesOf[i]!.length > 0);
  return isRead ? shape : oldBox(boxesOf.find((boxes) => boxes.length > 0) ?? []);
}

function oldBox(boxes: readonly string[]): string {
  return `<w:pict>${boxes.join('')}</w:pict>`;
}

interface Span {
  start: number;
  end: number;
}

/** Those that lie within no other; in linear time. */
function outerElements(xml: string, tags: RegExp): Span[] {
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

function replaceOuter(xml: string, tags: RegExp, replace: (element: string) => string): string {
  let out = '';
  let at = 0;
  for (const { start, end } of outerElements(xml, tags)) {
    out += xml.slice(at, start) + replace(xml.slice(start, end));
    at = end;
  }
  return out + xml.slice(at);
}
