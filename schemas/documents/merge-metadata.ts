import type { FileVersion, Metadata } from './documents.js';

const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/**
 * A version with more words: keys that are given replace those of the same name, the rest stays. The two keys that
 * relate files are kept beside the metadata too.
 */
export const mergeMetadata = (version: FileVersion, patch: Metadata | null): FileVersion =>
  patch === null
    ? version
    : {
        ...version,
        metadata: { ...version.metadata, ...patch },
        relationship_id: Object.hasOwn(patch, 'relationship_id')
          ? textOrNull(patch['relationship_id'])
          : version.relationship_id,
        parent_id: Object.hasOwn(patch, 'parent_id') ? textOrNull(patch['parent_id']) : version.parent_id,
      };
