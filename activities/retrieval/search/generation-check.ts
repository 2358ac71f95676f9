import { inScope } from '../../../schemas/documents/users.js';
import type { FileRecord, FileVersion } from '../../../schemas/documents/documents.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { ChunkHead } from '../../ports/chunks.js';
import type { FileStore } from '../../ports/files.js';
import type { FilterExpression } from '../../ports/filter.js';
import { matchesFilter } from '../filter/matches-filter.js';
import { toVersionEntries } from '../../documents/metadata-entries.js';
import type { DropReason } from './retrieval-trace.js';

export interface CheckedHit<Chunk extends ChunkHead = ChunkHead> {
  chunk: Chunk;
  /** Raw score. */
  score: number;
  file: FileRecord;
  version: FileVersion;
}

/** What a hit must still satisfy after the engine has answered. */
export interface CheckLimits {
  scope: Scope;
  partitions: ReadonlySet<string>;
  fileKey?: string | undefined;
  workspaceKey?: string | undefined;
  filter?: FilterExpression | undefined;
}

export interface DroppedHit {
  id: string;
  score: number;
  reason: DropReason;
}

/** The live version that a chunk belongs to; unpublished, replaced and deleted ones do not exist for a reader. */
export function liveVersionOf(
  chunk: Pick<ChunkHead, 'generation'>,
  file: FileRecord | undefined,
): FileVersion | null {
  if (file === undefined || file.deleted_at !== null) return null;
  return file.live?.generation === chunk.generation ? file.live : null;
}

/** By what the record says of the file: after a change of its metadata the chunks may still say the old. */
function holdsFilter(
  chunk: ChunkHead,
  file: FileRecord,
  version: FileVersion,
  filter: FilterExpression,
): boolean {
  return matchesFilter(
    {
      ...chunk,
      file_id: file.file_id,
      filename: version.filename,
      relationship_id: version.relationship_id,
      parent_id: version.parent_id,
      metadata: toVersionEntries(version),
    },
    filter,
  );
}

function verify(
  chunk: ChunkHead,
  file: FileRecord | undefined,
  limits: CheckLimits,
): { file: FileRecord; version: FileVersion } | DropReason {
  const version = liveVersionOf(chunk, file);
  if (file === undefined || version === null) return 'generation';
  if (limits.fileKey !== undefined && file.file_key !== limits.fileKey) return 'file';
  // The record's partition counts, not the chunk's: while a file is moved its chunks follow later.
  if (!limits.partitions.has(file.partition) || !inScope(limits.scope, file.partition)) return 'scope';
  if (limits.workspaceKey !== undefined && !file.workspaces.includes(limits.workspaceKey)) return 'workspace';
  if (limits.filter !== undefined && !holdsFilter(chunk, file, version, limits.filter)) return 'filter';
  return { file, version };
}

export interface CheckedLegs<Leg extends string, Chunk extends ChunkHead> {
  legs: Record<Leg, CheckedHit<Chunk>[]>;
  /** What was dropped and why. */
  dropped: Record<Leg, DroppedHit[]>;
  /** Generations of which hits were dropped for what holds of the whole file: a next search may leave them out. */
  dead: ReadonlySet<number>;
  /** Live generations of files of which hits were dropped and nothing else is among the hits. */
  hidden: ReadonlySet<number>;
}

/**
 * Compares the legs of a search with the file records as they are now, and drops every hit of an unpublished,
 * replaced, deleted or foreign version, of a file outside the workspace or the filter, and repeated ids. The records
 * are read after the engine answered: a version that was replaced in between is dropped too.
 */
export async function checkGenerations<Leg extends string, Chunk extends ChunkHead>(
  legs: Readonly<Record<Leg, readonly { chunk: Chunk; score: number }[]>>,
  files: Pick<FileStore, 'getMany'>,
  limits: CheckLimits,
): Promise<CheckedLegs<Leg, Chunk>> {
  const names = Object.keys(legs) as Leg[];
  const keys = new Set(names.flatMap((name) => legs[name].map(({ chunk }) => chunk.file_key)));
  const records =
    keys.size === 0 ? new Map<string, FileRecord>() : await files.getMany([...keys], { reports: false });
  const dead = new Set<number>();
  const robbed = new Map<string, number>();
  const dropped = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Leg, DroppedHit[]>;
  const check = (name: Leg): CheckedHit<Chunk>[] => {
    const kept = new Map<string, CheckedHit<Chunk>>();
    for (const hit of legs[name]) {
      const { chunk_id: id, file_key: key, generation } = hit.chunk;
      const file = records.get(key);
      const result = kept.has(id) ? 'duplicate' : verify(hit.chunk, file, limits);
      if (typeof result !== 'string') {
        kept.set(id, { ...hit, ...result });
        continue;
      }
      dropped[name].push({ id, score: hit.score, reason: result });
      // Other chunks of the file may satisfy the filter, and a repeated one is there already.
      if (result === 'filter' || result === 'duplicate') continue;
      dead.add(generation);
      if (file?.live != null && file.live.generation !== generation)
        robbed.set(file.file_key, file.live.generation);
    }
    return [...kept.values()];
  };
  const checked = Object.fromEntries(names.map((name) => [name, check(name)])) as Record<
    Leg,
    CheckedHit<Chunk>[]
  >;
  for (const name of names) for (const { file } of checked[name]) robbed.delete(file.file_key);
  return { legs: checked, dropped, dead, hidden: new Set(robbed.values()) };
}
