import { checkContent } from '../../activities/documents/parsing/content-check.js';
import { resolveFileKind } from '../../activities/documents/parsing/file-types.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { AppError } from '../../schemas/app-error.js';
import type { ErrorCode } from '../../schemas/error-table.js';
import type { Found, Specimen } from './specimen.js';

export type Outcome = { code: ErrorCode; message: string } | { text: string; degraded: boolean };

function source(bytes: Buffer) {
  return {
    size: bytes.length,
    read: (start: number, end: number) => Promise.resolve(bytes.subarray(start, end)),
  };
}

/** As an upload and its task: the name, the content, then a parser process. */
export async function readSpecimen(
  parser: Pick<TestParser, 'parse'>,
  name: string,
  bytes: Buffer,
  options: Parameters<TestParser['parse']>[2] = {},
): Promise<Outcome> {
  try {
    const kind = resolveFileKind({ filename: name });
    await checkContent(kind, source(bytes));
    const { text, chunkCount, report } = await parser.parse(kind, bytes, options);
    // As the activity has it.
    if (chunkCount === 0) throw new AppError('NO_INDEXABLE_CONTENT');
    return { text, degraded: report?.degraded === true };
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message };
    throw error;
  }
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** What is wrong with an outcome, in words; null when it is as expected. */
export function complaint({ expected }: Specimen, outcome: Outcome): string | null {
  if ('code' in expected) {
    if (!('code' in outcome)) return `${expected.code} expected; read: ${plain(outcome.text).slice(0, 200)}`;
    return outcome.code === expected.code
      ? null
      : `${expected.code} expected; ${outcome.code}: ${outcome.message}`;
  }
  if ('code' in outcome && outcome.code === expected.or) return null;
  if ('code' in outcome) return `text expected; ${outcome.code}: ${outcome.message}`;
  return textComplaint(expected, outcome.text) ?? degradedComplaint(expected, outcome.degraded);
}

function textComplaint({ finds, not = [] }: Found, text: string): string | null {
  const shown = plain(text);
  const missing = finds.filter((passage) => !shown.includes(plain(passage)));
  if (missing.length > 0) return `not found: ${missing.join(' | ')}; read: ${shown.slice(0, 400)}`;
  const present = not.filter((passage) => shown.includes(plain(passage)));
  return present.length > 0 ? `found, and should not be: ${present.join(' | ')}` : null;
}

function degradedComplaint({ degraded }: Found, isDegraded: boolean): string | null {
  return (degraded === true) === isDegraded ? null : `degraded is ${isDegraded}`;
}
