import { deflateSync } from 'node:zlib';

export interface RawPdf {
  /**
   * Content stream of each page (A4). `/F1` is Helvetica, `/F2` the font below, `/Im` a grey picture, `/Clear` a state
   * in which what is filled is transparent.
   */
  contents: string[];
  /** More for the dictionaries of content streams, and whether they are packed. */
  streamKeys?: string;
  packed?: boolean;
  /** Without the state `/Clear`. */
  opaque?: boolean;
  /** Colour spaces by their names. */
  colorSpaces?: string;
  /** A CMap with which `/F2` (Helvetica as well) maps its codes to Unicode. */
  toUnicode?: string;
  /** Dictionaries of annotations of the first page. */
  annotations?: { dictionary: string; appearance?: string }[];
}

/** Writes a valid PDF around content streams as they are given. */
export function writeRawPdf({
  contents,
  toUnicode = '',
  annotations = [],
  streamKeys = '',
  packed = false,
  opaque = false,
  colorSpaces = '',
}: RawPdf): Buffer {
  const objects: string[] = [];
  const stream = (dictionary: string, content: string): string =>
    `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const font = '/Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding';
  const firstAnnotation = 7 + contents.length * 2;
  objects.push('<< /Type /Catalog /Pages 2 0 R >>');
  const kids = contents.map((_, i) => `${7 + i * 2} 0 R`).join(' ');
  objects.push(`<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`);
  objects.push(`<< ${font} >>`);
  objects.push(toUnicode === '' ? `<< ${font} >>` : `<< ${font} /ToUnicode 5 0 R >>`);
  objects.push(stream('', toUnicode));
  const picture =
    '/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 8 /Width 1 /Height 1';
  objects.push(stream(picture, '\x80'));
  const resources =
    '<< /Font << /F1 3 0 R /F2 4 0 R >> /XObject << /Im 6 0 R >> /ExtGState << ' +
    `${opaque ? '' : '/Clear << /ca 0 >>'} >> ` +
    `/ColorSpace << ${colorSpaces} >> >>`;
  contents.forEach((content, page) => {
    const own = page === 0 ? annotations.map((_, i) => `${firstAnnotation + i * 2} 0 R`).join(' ') : '';
    const box = '/MediaBox [0 0 595 842]';
    objects.push(
      `<< /Type /Page /Parent 2 0 R ${box} /Resources ${resources} /Contents ${8 + page * 2} 0 R /Annots [${own}] >>`,
    );
    const bytes = packed ? deflateSync(Buffer.from(content, 'latin1')).toString('latin1') : content;
    objects.push(stream(packed ? `/Filter /FlateDecode ${streamKeys}` : streamKeys, bytes));
  });
  annotations.forEach(({ dictionary, appearance }, i) => {
    const shown = appearance === undefined ? '' : `/AP << /N ${firstAnnotation + i * 2 + 1} 0 R >>`;
    objects.push(`<< /Type /Annot ${dictionary} ${shown} >>`);
    objects.push(
      stream(`/Type /XObject /Subtype /Form /BBox [0 0 200 40] /Resources ${resources}`, appearance ?? ''),
    );
  });
  let out = '%PDF-1.5\n%\xe2\xe3\xcf\xd3\n';
  const offsets = objects.map((body, i) => {
    const offset = out.length;
    out += `${i + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = out.length;
  out += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  out += offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  out += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(out, 'latin1');
}
