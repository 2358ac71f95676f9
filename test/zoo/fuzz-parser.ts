import type { ErrorCode } from '../../schemas/error-table.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { mutatedSpecimens } from './mutated-specimens.js';
import { readSpecimen } from './read-specimen.js';

/** How a damaged file may end. Anything else is a fault of ours. */
export const ENDS_OF_DAMAGED: ReadonlySet<ErrorCode> = new Set([
  'UNSUPPORTED_MEDIA_TYPE',
  'UNSUPPORTED_CONTENT',
  'FILE_CORRUPT',
  'FILE_ENCRYPTED',
  'FILE_TOO_COMPLEX',
  'NO_INDEXABLE_CONTENT',
]);

export interface FuzzResult {
  /** One line each: which file, what was done to it, what came of it. */
  faults: string[];
  /** Files by how they ended: `read`, or a code. */
  outcomes: Record<string, number>;
}

/** Reads so many damaged files one after the other by the same parser, and says which it did not come to terms with. */
export async function fuzzParser(
  parser: Pick<TestParser, 'parse'>,
  { count, seed, onDone }: { count: number; seed: number; onDone?: (number: number) => void },
): Promise<FuzzResult> {
  const faults: string[] = [];
  const outcomes: Record<string, number> = {};
  for await (const { name, number, how, bytes } of mutatedSpecimens(count, seed)) {
    const outcome = await readSpecimen(parser, name, bytes).catch((error: unknown) => ({
      code: 'no code at all',
      message: String(error),
    }));
    const ended = 'code' in outcome ? outcome.code : 'read';
    outcomes[ended] = (outcomes[ended] ?? 0) + 1;
    if ('code' in outcome && !ENDS_OF_DAMAGED.has(outcome.code as ErrorCode))
      faults.push(`${number} ${name} (${how}): ${outcome.code}: ${outcome.message}`);
    onDone?.(number);
  }
  return { faults, outcomes };
}
