import type { Section } from '../section.js';
import type { PictureMarks } from './picture-marks.js';

type Sections = AsyncIterable<Section> | Iterable<Section>;

/** Where a picture stands in a text, and what it leaves there. */
interface Found {
  at: number;
  length: number;
  picture: number;
  /** What its author calls it. */
  description: string;
}

/** A definition of Markdown, `[image1]: <…>`, whose picture stands where the label is used. */
function definition(name: string): string {
  return String.raw`^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*<?${name}:(\d+):>?[^\n]*$`;
}

function labelKey(label: string): string {
  return label.replace(/\s+/g, ' ').trim().toLowerCase();
}

/** The labels that a line of Markdown gives to pictures. */
export function readPictureLabels(line: string, marks: PictureMarks, labels: Map<string, number>): void {
  const found = line.includes(marks.name) ? new RegExp(definition(marks.name)).exec(line.trimEnd()) : null;
  if (found) labels.set(labelKey(found[1]!), Number(found[2]));
}

/**
 * Takes the marks out of a document's sections and puts a section of its own where each picture stands. What its
 * author wrote of a picture stays in the text. A picture in a table or in code comes behind it.
 */
export async function* placePictures(
  sections: Sections,
  marks: PictureMarks,
  labels: ReadonlyMap<string, number> = new Map(),
): AsyncGenerator<Section> {
  const { name } = marks;
  const pattern = new RegExp(
    [
      String.raw`!\[(?<alt>[^\]]{0,1000})\]\(\s*<?${name}:(?<inline>\d+):>?[^)\n]{0,1000}\)`,
      String.raw`<img\b[^>]{0,2000}?${name}:(?<tag>\d+):[^>]{0,2000}>`,
      String.raw`(?<definition>${definition(name)})`,
      `${name}:(?<bare>\\d+):`,
      ...(labels.size > 0 ? [String.raw`!\[(?<name>[^\]]{0,1000})\](?:\[(?<label>[^\]]{0,200})\])?`] : []),
    ].join('|'),
    'gm',
  );
  const placed = new Set<number>();

  const find = (text: string): Found[] =>
    [...text.matchAll(pattern)].flatMap((match): Found[] => {
      const { alt, inline, tag, bare, name: called, label } = match.groups!;
      const at = { at: match.index, length: match[0].length };
      if (called !== undefined) {
        const picture = labels.get(labelKey(label === undefined || label === '' ? called : label));
        return picture === undefined ? [] : [{ ...at, picture, description: called }];
      }
      const number = inline ?? tag ?? bare ?? /:(\d+):/.exec(match[0].slice(match[0].indexOf(name)))![1];
      return [{ ...at, picture: Number(number), description: alt ?? '' }];
    });

  for await (const section of sections) {
    const touched =
      section.text.includes(name) ||
      section.headingPath.some((title) => title.includes(name)) ||
      (labels.size > 0 && section.text.includes('!['));
    if (!touched) {
      yield section;
      continue;
    }
    const headingPath = section.headingPath.map((title) => title.replace(pattern, ' ').trim());
    const { page, kind } = section;
    const found = find(section.text);
    const pictureOf = ({ picture }: Found): Section[] => {
      if (placed.has(picture)) return [];
      placed.add(picture);
      return [{ headingPath, page, kind: 'text', text: '', picture }];
    };
    // Places in the source are those of a text with marks in it.
    const { charStart: _, ...rest } = section;
    if (kind !== 'text') {
      const text = withoutMarks(section.text, found);
      yield { ...rest, headingPath, text };
      for (const one of found) yield* pictureOf(one);
      continue;
    }
    let from = 0;
    let held = '';
    let first = true;
    for (const one of found) {
      held += section.text.slice(from, one.at) + one.description;
      from = one.at + one.length;
      const pictures = pictureOf(one);
      if (pictures.length === 0) continue;
      yield { ...rest, headingPath, text: held, ...(first ? {} : { opens: false, continues: true }) };
      first = false;
      held = '';
      yield* pictures;
    }
    held += section.text.slice(from);
    yield { ...rest, headingPath, text: held, ...(first ? {} : { opens: false, continues: true }) };
  }
}

function withoutMarks(text: string, found: readonly Found[]): string {
  let from = 0;
  let kept = '';
  for (const { at, length, description } of found) {
    kept += text.slice(from, at) + description;
    from = at + length;
  }
  return kept + text.slice(from);
}
