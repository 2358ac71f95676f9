import { writeZip } from './write-zip.js';
import type { ZipPart } from './write-zip.js';

export type DocxBlock =
  | { heading: string; level: number }
  | { paragraph: string }
  | { table: string[][] }
  | { xml: string }
  /** An embedded picture by the name of its part in `word/media`, `logo.png` say. */
  | { picture: string; description?: string };

/** Writes a minimal Word document; `extra` parts, pictures among them, are added to the package as they are. */
export function writeDocx(
  blocks: DocxBlock[],
  extra: ZipPart[] = [],
  document = 'word/document.xml',
): Buffer {
  const media = extra.flatMap(({ name }) => /^word\/(media\/.+)$/.exec(name)?.[1] ?? []);
  const parts = docxParts(blocks.map(blockXml).join(''), media).map(({ name, content }) => ({
    name: name.replace('document.xml', document.replace('word/', '')),
    content: String(content).replaceAll('word/document.xml', document),
  }));
  return writeZip([...parts, ...extra]);
}

/** A document of one paragraph of blanks that unpacks to so many bytes. */
export function writeDocxBomb(bytes: number, declaredSize?: number): Buffer {
  const parts = docxParts('<w:p><w:r><w:t>|</w:t></w:r></w:p>');
  return writeZip(
    parts.map((part) => {
      if (part.name !== 'word/document.xml') return part;
      const [before, after] = String(part.content)
        .split('|')
        .map((text) => Buffer.from(text));
      // Larger than a string may be.
      const content = Buffer.concat([before!, Buffer.alloc(bytes, ' '), after!]);
      return { ...part, content, ...(declaredSize !== undefined && { declaredSize }) };
    }),
  );
}

function docxParts(body: string, media: string[] = []): ZipPart[] {
  const packageTypes = 'http://schemas.openxmlformats.org/package/2006';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
  const styles = [1, 2, 3].map(
    (n) => `<w:style w:type="paragraph" w:styleId="Heading${n}"><w:name w:val="heading ${n}"/></w:style>`,
  );
  const relationship = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;
  return [
    {
      name: '[Content_Types].xml',
      content:
        `<Types xmlns="${packageTypes}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
        `<Default Extension="xml" ContentType="application/xml"/>` +
        `<Default Extension="png" ContentType="image/png"/><Default Extension="emf" ContentType="image/x-emf"/>` +
        `<Override PartName="/word/document.xml" ContentType="${wordType}.document.main+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      content: `<Relationships xmlns="${packageTypes}/relationships">${relationship('r1', 'officeDocument', 'word/document.xml')}</Relationships>`,
    },
    {
      name: 'word/_rels/document.xml.rels',
      content: `<Relationships xmlns="${packageTypes}/relationships">${relationship('r2', 'styles', 'styles.xml')}${media
        .map((target) => relationship(target.replace(/\W/g, '-'), 'image', target))
        .join('')}</Relationships>`,
    },
    { name: 'word/styles.xml', content: `<w:styles xmlns:w="${word}">${styles.join('')}</w:styles>` },
    {
      name: 'word/document.xml',
      content: `<?xml version="1.0"?><w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`,
    },
  ];
}

function blockXml(block: DocxBlock): string {
  if ('heading' in block) {
    const style = `<w:pPr><w:pStyle w:val="Heading${block.level}"/></w:pPr>`;
    return `<w:p>${style}${runXml(block.heading)}</w:p>`;
  }
  if ('picture' in block)
    return `<w:p><w:r>${drawingXml(block.picture, block.description ?? '')}</w:r></w:p>`;
  if ('xml' in block) return block.xml;
  if ('paragraph' in block) return `<w:p>${runXml(block.paragraph)}</w:p>`;
  const rows = block.table.map(
    (row) => `<w:tr>${row.map((cell) => `<w:tc><w:p>${runXml(cell)}</w:p></w:tc>`).join('')}</w:tr>`,
  );
  return `<w:tbl>${rows.join('')}</w:tbl>`;
}

function runXml(text: string): string {
  const escaped = text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<w:r><w:t xml:space="preserve">${escaped}</w:t></w:r>`;
}

function drawingXml(part: string, description: string): string {
  const drawing = 'http://schemas.openxmlformats.org/drawingml/2006';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return (
    `<w:drawing><wp:inline xmlns:wp="${drawing}/wordprocessingDrawing">` +
    `<wp:docPr id="1" name="p" descr="${description}"/>` +
    `<a:graphic xmlns:a="${drawing}/main"><a:graphicData uri="${drawing}/picture"><pic:pic xmlns:pic="${drawing}/picture">` +
    `<pic:blipFill><a:blip xmlns:r="${office}" r:embed="media-${part.replace(/\W/g, '-')}"/></pic:blipFill>` +
    `</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>`
  );
}
