import { outerElements, replaceOuter } from './outer-elements.js';

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
    return replaceOuter(shape, BOXES, () => '') + oldBox(outerElements(shape, BOXES));
  }
  const branches = outerElements(shape, BRANCHES);
  const boxesOf = branches.map((branch) => outerElements(branch, BOXES));
  const isRead = branches.some((branch, i) => branch.startsWith('<mc:Fallback') && boxesOf[i]!.length > 0);
  return isRead ? shape : oldBox(boxesOf.find((boxes) => boxes.length > 0) ?? []);
}

function oldBox(boxes: readonly string[]): string {
  return `<w:pict>${boxes.join('')}</w:pict>`;
}
