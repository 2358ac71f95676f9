import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { FileStore } from '../../ports/files.js';

/**
 * The record of one file, tombstones included; undefined when there is none.
 * @param options.reports false: without what parsing reported, which is a third of a record
 */
export async function fileOf(
  files: Pick<FileStore, 'getMany'>,
  fileKey: string,
  options?: { reports?: boolean },
): Promise<FileRecord | undefined> {
  return (await files.getMany([fileKey], options)).get(fileKey);
}
