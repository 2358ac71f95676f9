import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkContent } from '../../../activities/documents/parsing/content-check.js';
import { plain415 } from '../../../activities/documents/commands/refusals.js';
import {
  isMediaKind,
  kindOfMimetype,
  resolveFileKind,
} from '../../../activities/documents/parsing/file-types.js';
import type { FileKind } from '../../../activities/documents/parsing/file-types.js';
import type { ParserPool } from '../../../activities/documents/parsing/parser-pool.js';
import { openFileBytes } from '../../../activities/documents/parsing/random-access-bytes.js';
import { AppError } from '../../../schemas/app-error.js';

export interface TextExtractionDeps {
  parser: Pick<ParserPool, 'extractText'>;
  timeoutMs: number;
}

/** A longer text is no answer that a client would want in one JSON body. */
const MAX_CHARACTERS = 20_000_000;

/** By the MIME type that was given, or where that says nothing, by the name. */
function kindOf(given: { name: string; mime: string | null }): FileKind {
  return kindOfMimetype(given.mime) ?? resolveFileKind({ filename: given.name });
}

/** @throws AppError UNSUPPORTED_MEDIA_TYPE */
async function checkedKind(file: { path: string; name: string; mime: string | null }): Promise<FileKind> {
  const kind = kindOf(file);
  if (isMediaKind(kind))
    throw new AppError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Audio and video are transcribed when they are indexed, and not here.',
    );
  const bytes = await openFileBytes(file.path);
  try {
    await checkContent(kind, bytes);
  } finally {
    await bytes.close();
  }
  return kind;
}

/**
 * The text of a file on disk, read by a parser process within the limits of indexing. The file is taken away and
 * nothing is left in `directory`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE; PARSE_TIMEOUT as 504; FILE_* and UNSUPPORTED_CONTENT
 *   (422)
 */
export async function extractText(
  { parser, timeoutMs }: TextExtractionDeps,
  file: { path: string; directory: string; name: string; mime: string | null; userId: number },
  signal: AbortSignal,
): Promise<string> {
  const scratch = await mkdtemp(join(file.directory, 'text-'));
  try {
    const kind = await checkedKind(file).catch(plain415);
    // Some readers choose by the file's extension.
    const path = join(scratch, `upload.${kind}`);
    await rename(file.path, path);
    const outputPath = join(scratch, 'text.txt');
    await parser
      .extractText({
        path,
        kind,
        outputPath,
        signal,
        userId: file.userId,
        maxCharacters: MAX_CHARACTERS,
        limits: { timeoutMs },
      })
      .catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'PARSE_TIMEOUT') throw error;
        throw new AppError(error.code, error.message, { status: 504, cause: error, details: error.details });
      });
    return await readFile(outputPath, 'utf8');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
