import type { PdfLine } from './write-pdf.js';

/** Pages with a running header and footer, a chapter title, a section title, two paragraphs and a table. */
export function samplePages(count: number): PdfLine[][] {
  return Array.from({ length: count }, (_, i) => {
    const number = i + 1;
    const body = (about: string): PdfLine[] =>
      Array.from({ length: 5 }, (_unused, line) => ({
        text: `Line ${line + 1} on page ${number} speaks of ${about} and of nothing else at all.`,
      }));
    const row = (y: number, ...cells: string[]): PdfLine[] =>
      cells.map((text, column) => ({ text, x: 60 + column * 140, y, bold: y === 300 }));
    return [
      { text: 'The Sieve Handbook', y: 815, size: 9 },
      { text: `Chapter ${number}: meshes`, size: 22, bold: true },
      ...body('woven wire'),
      { text: `Care of mesh ${number}`, size: 15, bold: true },
      ...body('brushes and soap'),
      ...row(300, 'Name', 'Mesh', 'Price'),
      ...row(285, 'Alpha', '12', '3.50'),
      ...row(270, 'Beta', '24', '4.50'),
      ...row(255, 'Gamma', '36', '5.50'),
      { text: `Page ${number} of ${count}`, y: 30, x: 280, size: 9 },
    ];
  });
}
