import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../../../schemas/app-error.js';
import type { ErrorCode } from '../../../../schemas/error-table.js';
import { checkContent } from '../content-check.js';
import { resolveFileKind } from '../file-types.js';
import type { FileKind } from '../file-types.js';
import type { ParseNotes } from '../parse-notes.js';
import type { Nest, ParseSource } from '../parse-source.js';
import { openFileBytes } from '../random-access-bytes.js';
import type { Section } from '../section.js';
import { findLibreOffice, NO_LIBREOFFICE } from './libreoffice.js';
import { beyondLimit } from './limit-error.js';

export interface Member {
  /** As the file names it: a label, never a path. */
  name: string;
  mimetype?: string | undefined;
  headingPath: string[];
  /** Writes its bytes; answers how many. `most` is what may still come. */
  write(path: string, most: number): Promise<number>;
}

/** What is wrong with one member is said in its place; going beyond a limit ends the whole. */
const SAID_IN_PLACE: ReadonlySet<ErrorCode> = new Set([
  'FILE_CORRUPT',
  'FILE_ENCRYPTED',
  'UNSUPPORTED_CONTENT',
  'UNSUPPORTED_MEDIA_TYPE',
]);
const MAX_NAME = 200;
/** A parser process reaches no model. */
const NO_TRANSCRIPTION = 'Recordings within another file are not transcribed; upload them by themselves.';

/**
 * A file within a file under a heading of its name, read by the parser of its kind. One that cannot be read leaves its
 * name and the reason.
 * @throws AppError FILE_TOO_COMPLEX for what goes beyond the limits of all members together
 */
export async function* memberSections(
  member: Member,
  source: ParseSource & { nest: Nest },
): AsyncGenerator<Section> {
  const { nest, limits } = source;
  if (nest.depth + 1 > limits.maxArchiveDepth) throw beyondLimit('maxArchiveDepth', limits.maxArchiveDepth);
  if (++nest.spent.members > limits.maxArchiveEntries)
    throw beyondLimit('maxArchiveEntries', limits.maxArchiveEntries);
  const name = labelOf(member.name);
  const headingPath = [...member.headingPath, name];
  const note = (text: string): Section => ({ headingPath, page: null, kind: 'text', text, opens: true });
  yield note(`${'#'.repeat(Math.min(6, headingPath.length))} ${name}`);
  let path: string | null = null;
  try {
    const kind = kindOf(member, limits.ocrLanguages);
    // The name is none that the file has a say in.
    path = join(dirname(source.path), `member-${nest.spent.members}.${kind}`);
    nest.spent.bytes += await member.write(path, limits.maxExpandedBytes - nest.spent.bytes);
    if (nest.spent.bytes > limits.maxExpandedBytes)
      throw beyondLimit('maxExpandedBytes', limits.maxExpandedBytes);
    await checkBytes(kind, path);
    const parsed = await nest.parse({ path, kind, limits, nest: { ...nest, depth: nest.depth + 1 } });
    for await (const { charStart: _, ...section } of parsed.sections)
      yield { ...section, headingPath: [...headingPath, ...section.headingPath] };
    passOn(parsed.notes, nest, name);
  } catch (error) {
    if (!(error instanceof AppError) || !SAID_IN_PLACE.has(error.code)) throw error;
    const said = `${name} was not read: ${error.message}`;
    // A picture beside a mail is no loss of text; a damaged document is.
    if (error.code === 'UNSUPPORTED_MEDIA_TYPE') nest.notes.warn(said);
    else nest.notes.degrade(said);
    yield { headingPath, page: null, kind: 'text', text: `(${said})` };
  } finally {
    if (path !== null) await rm(path, { force: true });
  }
}

/** What its parser noted, under the member's name; a parser that was given the whole's notes wrote there itself. */
function passOn(notes: ParseNotes | undefined, nest: Nest, name: string): void {
  if (notes === undefined || notes === nest.notes) return;
  for (let page = 0; page < notes.ocrPages; page++) nest.notes.recognise(notes.ocrConfidence ?? 0);
  for (const warning of notes.warnings) nest.notes.warn(`${name}: ${warning}`);
  for (const reason of notes.reasons) nest.notes.degrade(`${name}: ${reason}`);
}

function kindOf({ name, mimetype }: Member, ocrLanguages: readonly string[]): FileKind {
  const noOcr = ocrLanguages.length === 0 ? 'OCR is off on this server.' : null;
  const noLibreOffice = findLibreOffice() === null ? NO_LIBREOFFICE : null;
  return resolveFileKind(
    { filename: name, mimetype },
    { noOcr, noTranscription: NO_TRANSCRIPTION, noLibreOffice },
  );
}

async function checkBytes(kind: FileKind, path: string): Promise<void> {
  const bytes = await openFileBytes(path);
  try {
    await checkContent(kind, bytes);
  } finally {
    await bytes.close();
  }
}

function labelOf(name: string): string {
  // The end says the kind; a pair of which the cut leaves a half goes whole.
  const end = name.replace(/\s+/g, ' ').trim().slice(-MAX_NAME);
  return end.replace(/^[\udc00-\udfff]/, '') || 'unnamed';
}
