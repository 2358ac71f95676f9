import { writeZip } from './write-zip.js';
import type { ZipPart } from './write-zip.js';

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const NAMESPACES =
  `xmlns:a="${DRAWING}" xmlns:r="${OFFICE}" ` +
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"';

export interface Slide {
  title?: string;
  lines?: string[];
  table?: string[][];
  notes?: string;
  /** The number in the name of the part of its notes, where it is not that of the slide. */
  notesNumber?: number;
  hidden?: boolean;
}

/**
 * A presentation of PowerPoint with titles, text, tables and speaker notes.
 * @param show the numbers of the slides in the order of the show, where it is not that of the names
 */
export function writePptx(slides: Slide[], extra: ZipPart[] = [], show?: number[]): Buffer {
  const relationships = (list: { id: string; type: string; target: string }[]): string =>
    `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships">${list
      .map(({ id, type, target }) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`)
      .join('')}</Relationships>`;
  const paragraphs = (lines: string[]): string =>
    `<p:txBody><a:bodyPr/>${lines.map((line) => `<a:p><a:r><a:t>${escaped(line)}</a:t></a:r></a:p>`).join('')}</p:txBody>`;
  const shape = (id: number, placeholder: string, lines: string[]): string =>
    `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="s${id}"/><p:cNvSpPr/><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr>` +
    `<p:spPr/>${paragraphs(lines)}</p:sp>`;
  const table = (rows: string[][]): string =>
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="t"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>` +
    `<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl>${rows
      .map(
        (row) =>
          `<a:tr h="1">${row
            .map(
              (cell) =>
                `<a:tc><a:txBody><a:bodyPr/><a:p><a:r><a:t>${escaped(cell)}</a:t></a:r></a:p></a:txBody></a:tc>`,
            )
            .join('')}</a:tr>`,
      )
      .join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  const tree = (shapes: string): string =>
    `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shapes}</p:spTree></p:cSld>`;
  const parts: ZipPart[] = slides.flatMap(({ title, lines, table: rows, notes, ...more }, index) => {
    const n = index + 1;
    const of = more.notesNumber ?? n;
    const shapes =
      (title === undefined ? '' : shape(2, 'title', [title])) +
      (lines === undefined ? '' : shape(3, 'body', lines)) +
      (rows === undefined ? '' : table(rows));
    return [
      {
        name: `ppt/slides/slide${n}.xml`,
        content: `<?xml version="1.0"?><p:sld ${NAMESPACES}${more.hidden ? ' show="0"' : ''}>${tree(shapes)}</p:sld>`,
      },
      ...(notes === undefined
        ? []
        : [
            {
              name: `ppt/notesSlides/notesSlide${of}.xml`,
              content: `<?xml version="1.0"?><p:notes ${NAMESPACES}>${tree(shape(2, 'body', [notes]))}</p:notes>`,
            },
            {
              name: `ppt/slides/_rels/slide${n}.xml.rels`,
              content: relationships([
                { id: 'n1', type: 'notesSlide', target: `../notesSlides/notesSlide${of}.xml` },
              ]),
            },
            {
              name: `ppt/notesSlides/_rels/notesSlide${of}.xml.rels`,
              content: relationships([{ id: 's1', type: 'slide', target: `../slides/slide${n}.xml` }]),
            },
          ]),
    ];
  });
  const type = 'application/vnd.openxmlformats-officedocument.presentationml';
  return writeZip([
    {
      name: '[Content_Types].xml',
      content:
        `<?xml version="1.0"?><Types xmlns="${PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
        `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
        `<Override PartName="/ppt/presentation.xml" ContentType="${type}.presentation.main+xml"/>` +
        slides
          .map(
            (_, i) => `<Override PartName="/ppt/slides/slide${i + 1}.xml" ContentType="${type}.slide+xml"/>`,
          )
          .join('') +
        '</Types>',
    },
    {
      name: '_rels/.rels',
      content: relationships([{ id: 'r1', type: 'officeDocument', target: 'ppt/presentation.xml' }]),
    },
    {
      name: 'ppt/presentation.xml',
      content: `<?xml version="1.0"?><p:presentation ${NAMESPACES}><p:sldIdLst>${(
        show ?? slides.map((_, i) => i + 1)
      )
        .map((n) => `<p:sldId id="${255 + n}" r:id="s${n}"/>`)
        .join('')}</p:sldIdLst></p:presentation>`,
    },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: relationships(
        [...new Set([...slides.map((_, i) => i + 1), ...(show ?? [])])].map((n) => ({
          id: `s${n}`,
          type: 'slide',
          target: `slides/slide${n}.xml`,
        })),
      ),
    },
    ...parts,
    ...extra,
  ]);
}

const ODF = 'urn:oasis:names:tc:opendocument:xmlns';
const ODF_NAMESPACES =
  `xmlns:office="${ODF}:office:1.0" xmlns:text="${ODF}:text:1.0" xmlns:table="${ODF}:table:1.0" ` +
  `xmlns:draw="${ODF}:drawing:1.0" xmlns:presentation="${ODF}:presentation:1.0" xmlns:style="${ODF}:style:1.0"`;

/** A document of OpenDocument whose body is given as XML; the style `L1` is of lists. */
export function writeOpenDocument(kind: 'text' | 'presentation' | 'spreadsheet', body: string): Buffer {
  const mimetype = `application/vnd.oasis.opendocument.${kind}`;
  return writeZip([
    { name: 'mimetype', content: mimetype },
    {
      name: 'META-INF/manifest.xml',
      content:
        `<?xml version="1.0"?><manifest:manifest xmlns:manifest="${ODF}:manifest:1.0">` +
        `<manifest:file-entry manifest:full-path="/" manifest:media-type="${mimetype}"/></manifest:manifest>`,
    },
    {
      name: 'content.xml',
      content:
        `<?xml version="1.0"?><office:document-content ${ODF_NAMESPACES}><office:automatic-styles>` +
        '<text:list-style style:name="L1"><text:list-level-style-bullet text:level="1" text:bullet-char="-"/></text:list-style>' +
        `</office:automatic-styles><office:body><office:${kind}>${body}` +
        `</office:${kind}></office:body></office:document-content>`,
    },
  ]);
}

/**
 * A book of chapters, each the body of an XHTML page; one without a body is listed and not there.
 * @param hrefs the addresses of the chapters as the list of them has them
 */
export function writeEpub(
  title: string,
  chapters: string[],
  hrefs = chapters.map((_, i) => `c${i}.xhtml`),
): Buffer {
  const page = (body: string): string =>
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`;
  return writeZip([
    { name: 'mimetype', content: 'application/epub+zip' },
    {
      name: 'META-INF/container.xml',
      content:
        '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>' +
        '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    },
    {
      name: 'OEBPS/content.opf',
      content:
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">' +
        `<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${escaped(title)}</dc:title><dc:identifier id="id">x</dc:identifier></metadata>` +
        `<manifest>${chapters.map((_, i) => `<item id="c${i}" href="${hrefs[i]}" media-type="application/xhtml+xml"/>`).join('')}</manifest>` +
        `<spine>${chapters.map((_, i) => `<itemref idref="c${i}"/>`).join('')}</spine></package>`,
    },
    ...chapters.flatMap((body, i) =>
      body === '' ? [] : [{ name: `OEBPS/${decodeURIComponent(hrefs[i]!)}`, content: page(body) }],
    ),
  ]);
}
