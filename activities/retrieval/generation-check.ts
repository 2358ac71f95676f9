import { inScope } from '../../schemas/documents.js';
import type { FileRecord, FileVersion, Scope, StoredChunk } from '../../schemas/documents.js';
import type { FileStore, SearchLegHit } from '../ports.js';

export interface CheckedHit extends SearchLegHit {
  file: FileRecord;
  version: FileVersion;
}

/** What a hit must still satisfy after the engine has answered. */
export interface CheckLimits {
  scope: Scope;
  partitions: ReadonlySet<string>;
  fileKey: string | undefined;
}

/** The live version that a chunk belongs to; unpublished, replaced and deleted ones do not exist for a reader. */
export const liveVersionOf = (chunk: StoredChunk, file: FileRecord | undefined): FileVersion | null => {
  if (file === undefined || file.deleted_at !== null) return null;
  return file.live?.generation === chunk.generation ? file.live : null;
};

const visibleVersionOf = (
  chunk: StoredChunk,
  file: FileRecord | undefined,
  limits: CheckLimits,
): FileVersion | null => {
  const version = liveVersionOf(chunk, file);
  if (file === undefined || version === null) return null;
  if (limits.fileKey !== undefined && file.file_key !== limits.fileKey) return null;
  // The record's partition counts, not the chunk's: while a file is moved its chunks follow later.
  if (!limits.partitions.has(file.partition) || !inScope(limits.scope, file.partition)) return null;
  return version;
};

export interface CheckedLegs<Leg extends string> {
  legs: Record<Leg, CheckedHit[]>;
  /** Generations of which hits were dropped: a next search may leave them out. */
  dead: ReadonlySet<number>;
  /** Live generations of files of which hits were dropped and nothing else is among the hits. */
  hidden: ReadonlySet<number>;
}

/**
 * Compares the legs of a search with the file records as they are now, and drops every hit of an unpublished,
 * replaced, deleted or foreign version, and repeated ids. The records are read after the engine answered: a
 * version that was replaced in between is dropped too.
 */
export const checkGenerations = async <Leg extends string>(
  legs: Readonly<Record<Leg, readonly SearchLegHit[]>>,
  files: Pick<FileStore, 'getMany'>,
  limits: CheckLimits,
): Promise<CheckedLegs<Leg>> => {
  const names = Object.keys(legs) as Leg[];
  const keys = new Set(names.flatMap((name) => legs[name].map(({ chunk }) => chunk.file_key)));
  const records = keys.size === 0 ? new Map<string, FileRecord>() : await files.getMany([...keys]);
  const dead = new Set<number>();
  const robbed = new Map<string, number>();
  const check = (leg: readonly SearchLegHit[]): CheckedHit[] => {
    const kept = new Map<string, CheckedHit>();
    for (const hit of leg) {
      const file = records.get(hit.chunk.file_key);
      const version = visibleVersionOf(hit.chunk, file, limits);
      if (file !== undefined && version !== null) {
        if (!kept.has(hit.chunk.chunk_id)) kept.set(hit.chunk.chunk_id, { ...hit, file, version });
        continue;
      }
      dead.add(hit.chunk.generation);
      if (file?.live != null) robbed.set(file.file_key, file.live.generation);
    }
    return [...kept.values()];
  };
  const checked = Object.fromEntries(names.map((name) => [name, check(legs[name])])) as Record<
    Leg,
    CheckedHit[]
  >;
  for (const name of names) for (const { file } of checked[name]) robbed.delete(file.file_key);
  return { legs: checked, dead, hidden: new Set(robbed.values()) };
};
