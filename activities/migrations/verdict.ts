import { AppError } from '../../schemas/app-error.js';
import type { MigrationPosition } from '../../schemas/migrations/migrations.js';
import type { MigrationSlice } from '../ports/migrations.js';

interface VerdictPosition extends MigrationPosition, Pick<MigrationSlice, 'done' | 'total' | 'figures'> {
  problems: string[];
}

/** The last but one slice of a verification: its figures are recorded before the next one may fail. */
export function toVerdict(slice: MigrationSlice, problems: readonly string[]): MigrationSlice {
  const { done, total, figures } = slice;
  const position: VerdictPosition = { phase: 'judging', problems: [...problems], done, total, figures };
  return { ...slice, position, ended: false };
}

/**
 * The last slice of a verification; null when the position is another one.
 * @throws AppError MIGRATION_NOT_VERIFIED with what was found
 */
export function giveVerdict(from: MigrationPosition | null): MigrationSlice | null {
  if (from?.phase !== 'judging') return null;
  const { problems, done, total, figures } = from as VerdictPosition;
  if (problems.length > 0) throw new AppError('MIGRATION_NOT_VERIFIED', problems.join(' '));
  return { position: { ...from, phase: 'done' }, ended: true, cancellable: true, done, total, figures };
}
