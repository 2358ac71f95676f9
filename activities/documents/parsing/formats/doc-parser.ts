import { readFile } from 'node:fs/promises';
import WordExtractor from 'word-extractor';
import { AppError } from '../../../../schemas/app-error.js';
import { isOleHead } from '../ole-directory.js';
import type { Section } from '../section.js';
import { holdsEncryptedPackage } from './check-package.js';

/** The main stream begins with this sign, at a sector; its flags say whether there is a password. */
const WORD_SIGN = 0xa5ec;
const FLAGS_AT = 10;
const ENCRYPTED_FLAG = 0x100;
const SECTOR = 512;

/**
 * Word 97 to 2003: paragraphs, cells of tables with tabs between them, notes, text boxes, headers. Headings are not
 * known. The caller has looked whether it is a package of today under the old name.
 * @throws AppError FILE_CORRUPT, FILE_ENCRYPTED, UNSUPPORTED_CONTENT
 */
export async function* parseDoc(path: string): AsyncGenerator<Section> {
  const bytes = await readFile(path);
  if (!isOleHead(bytes))
    throw new AppError('UNSUPPORTED_CONTENT', 'The file is no Word document; save it as .docx.');
  if (isEncrypted(bytes) || (await holdsEncryptedPackage(path))) throw new AppError('FILE_ENCRYPTED');
  const document = await new WordExtractor().extract(bytes).catch((error: unknown) => {
    throw new AppError('FILE_CORRUPT', 'The Word document is damaged and cannot be read.', { cause: error });
  });
  const part = (name: string, text: string): Section => ({
    headingPath: [],
    page: null,
    kind: 'text' as const,
    text: name + paragraphs(text),
  });
  yield part('', document.getBody());
  for (const [name, text] of [
    ['Text boxes:\n\n', document.getTextboxes({ includeHeadersAndFooters: false, includeBody: true })],
    ['Footnotes:\n\n', document.getFootnotes()],
    ['Endnotes:\n\n', document.getEndnotes()],
    ['Comments:\n\n', document.getAnnotations()],
    ['Headers and footers:\n\n', document.getHeaders({ includeFooters: true })],
  ] as const)
    if (text.trim() !== '') yield part(name, text);
}

function isEncrypted(bytes: Buffer): boolean {
  for (let at = SECTOR; at + SECTOR <= bytes.length; at += SECTOR)
    if (bytes.readUInt16LE(at) === WORD_SIGN)
      return (bytes.readUInt16LE(at + FLAGS_AT) & ENCRYPTED_FLAG) !== 0;
  return false;
}

/** Each line is a paragraph of Word; lines with tabs are rows and stay together. */
function paragraphs(text: string): string {
  const lines = text.split('\n');
  return lines
    .map((line, i) => (line.includes('\t') && lines[i + 1]?.includes('\t') ? `${line}\n` : `${line}\n\n`))
    .join('')
    .trim();
}
