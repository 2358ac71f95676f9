import type { FileVersion, Metadata } from './documents.js';

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * A version with more words: keys that are given replace those of the same name, the rest stays. The two keys that
 * relate files are kept beside the metadata too.
 */
export function mergeMetadata(version: FileVersion, patch: Metadata | null): FileVersion {
  return patch === null
    ? version
    : {
        ...version,
        metadata: { ...version.metadata, ...patch },
        relationship_id: Object.hasOwn(patch, 'relationship_id')
          ? textOrNull(patch['relationship_id'])
          : version.relationship_id,
        parent_id: Object.hasOwn(patch, 'parent_id') ? textOrNull(patch['parent_id']) : version.parent_id,
      };
}
