import { generatedText } from './generated-text.js';

const MEGABYTE = 1024 * 1024;

/** Paragraphs of so many megabytes together, made as they are read; no two are the same. */
export function* generatedParagraphs(
  megabytes: number,
  title: (seed: number) => string = () => '',
): Generator<string> {
  let length = 0;
  for (let seed = 0; length < megabytes * MEGABYTE; seed += 1) {
    const fragment = `${title(seed)}${generatedText(seed, 1000)}\n\n`;
    length += fragment.length;
    yield fragment;
  }
}

/** CSV with so many rows below its header. */
export function* generatedTable(rows: number): Generator<string> {
  yield 'id,grain,price,remark\n';
  for (let row = 0; row < rows; row += 1000)
    yield Array.from(
      { length: 1000 },
      (_, at) => `${row + at},rye,${at}.50,"row ${row + at} of the mill"\n`,
    ).join('');
}

/** A mail of so many megabytes with one text attached. */
export function* generatedMail(megabytes: number): Generator<string> {
  yield 'From: ada@mill.example\r\nSubject: large\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nAttached.\r\n';
  yield '--b\r\nContent-Disposition: attachment; filename=a.txt\r\nContent-Transfer-Encoding: base64\r\n\r\n';
  for (let seed = 0, bytes = 0; bytes < megabytes * MEGABYTE; seed += 1) {
    const text = Buffer.from(`${generatedText(seed, 1000)}\n\n`);
    // Whole lines of 57 bytes, so that there is no padding in between.
    const lines = text.toString('base64', 0, text.length - (text.length % 57)).replaceAll(/.{76}/g, '$&\r\n');
    bytes += lines.length;
    yield lines;
  }
  yield '\r\n--b--\r\n';
}
