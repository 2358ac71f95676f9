import { AppError } from '../../../schemas/app-error.js';
import { IDENTIFIER_PATTERN, RESERVED_PARTITION_NAMES } from '../../../schemas/ids.js';

/**
 * Ids of write routes; a read route simply does not find what cannot exist.
 * @throws AppError BAD_REQUEST (400), plain
 */
export function requireIdentifier(
  kind: 'file id' | 'partition name' | 'question set name',
  value: string,
): void {
  // A client's own reading of the address takes the steps `.` and `..` away.
  if (!IDENTIFIER_PATTERN.test(value) || value === '.' || value === '..')
    throw new AppError(
      'BAD_REQUEST',
      `Invalid ${kind}: 1 to 255 characters of A-Z a-z 0-9 . _ : - are allowed, not . or .. alone`,
      { plain: true },
    );
}

/** @throws AppError BAD_REQUEST, or RESERVED_PARTITION_NAME for a word that a path or a model name needs */
export function requirePartitionName(partition: string): void {
  requireIdentifier('partition name', partition);
  if (RESERVED_PARTITION_NAMES.has(partition.toLowerCase()))
    throw new AppError('RESERVED_PARTITION_NAME', `'${partition}' is reserved`);
}
