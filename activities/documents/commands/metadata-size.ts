import { stringify } from 'lossless-json';
import type { Metadata, MetadataValue } from '../../../schemas/documents/documents.js';
import { MAX_METADATA_BYTES, MAX_METADATA_VALUES } from '../../../schemas/documents/documents-api.js';
import { badRequest } from '../../../schemas/request-issues.js';

/** Values of all depths; a list or an object that holds none counts as one. */
function countValues(value: MetadataValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  const members: MetadataValue[] = Object.values(value);
  return members.reduce<number>((sum, member) => sum + countValues(member), 0) || 1;
}

function bytesOf(metadata: Metadata): number {
  return Buffer.byteLength(stringify(metadata) ?? '');
}

/**
 * Each value becomes a document of the index beside each chunk of its file, and stands in every answer: so both are
 * bounded. What is there already, and was taken before there were bounds, may stay and become less.
 * @throws AppError BAD_REQUEST, plain
 */
export function requireMetadataSize(metadata: Metadata, before: Metadata = {}): void {
  const values = countValues(metadata);
  if (values > MAX_METADATA_VALUES && values > countValues(before))
    throw badRequest(`metadata may hold ${MAX_METADATA_VALUES} values`);
  const bytes = bytesOf(metadata);
  if (bytes > MAX_METADATA_BYTES && bytes > bytesOf(before))
    throw badRequest(`metadata may take ${MAX_METADATA_BYTES} bytes`);
}
