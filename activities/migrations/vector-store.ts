import { setTimeout } from 'node:timers/promises';
import { AppError } from '../../schemas/app-error.js';
import type { MigrationMode, MigrationPosition } from '../../schemas/migrations/migrations.js';
import type { Adapters } from '../ports/adapters.js';
import type {
  ChunkIndex,
  ChunkIndexes,
  Migration,
  MigrationSlice,
  PendingMigration,
  SliceControl,
  VectorFields,
  WritesReached,
} from '../ports/migrations.js';
import { giveVerdict } from './verdict.js';
import { createVectorStoreVerification } from './verify-vector-store.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

type Stores = Pick<Adapters, 'partitions' | 'endpoints' | 'files'>;

/** Schema 2 has one vector field for all partitions; since 3 each embedder has its own. */
const FIELD_PER_EMBEDDER = 3;

/** Writes of the source that a page copies. */
const PAGE = 2_000;
/**
 * While the source is searched a page is copied in parts, with a rest after each that is so many times as long as the
 * part took: a search that begins then finds the processors free.
 */
const PART = 100;
const REST = 1;
const SAMPLE = 200;

type Phase = 'preparing' | 'copying' | 'comparing' | 'switching' | 'done';

interface Position extends MigrationPosition {
  phase: Phase;
  source: string;
  target: string;
  /** Copied up to here; one number where a run of an earlier release began. */
  after: WritesReached | number;
  copied: number;
  total: number;
  /** As the source counted them at the last page; absent where a run of an earlier release began. */
  searches?: number;
  /** Whether there were any since the page before. */
  isSearched?: boolean;
  figures: Record<string, number>;
}

/**
 * Moves the chunks into an index of the present shape: built beside the live one, brought up to date with what is
 * written meanwhile, compared, and switched to in one call. Searches and writes go on, but that writers wait a moment
 * at the switch. The old index is kept, read-only, until it is dropped by name.
 */
export function createVectorStoreMigration(indexes: ChunkIndexes, stores: Stores): Migration {
  const { present } = indexes;
  const verify = createVectorStoreVerification(indexes, stores);

  const isBehind = ({ schema, step, shards }: ChunkIndex): boolean =>
    schema < present.schema ||
    (schema === present.schema &&
      (step < present.step || (step === present.step && shards !== (present.shards ?? shards))));

  const findLive = async (): Promise<ChunkIndex | null> =>
    (await indexes.list()).find(({ live }) => live) ?? null;

  /** The vector field of each partition, for a source that has one field for all. */
  const fieldsOf = async (source: string, schema: number): Promise<VectorFields | undefined> => {
    if (schema >= FIELD_PER_EMBEDDER) return undefined;
    const dimension = (await indexes.vectorFields(source))[0]?.dimension;
    const [partitions, embedders] = await Promise.all([
      stores.partitions.list(EVERYTHING),
      stores.endpoints.list('embedder'),
    ]);
    return Object.fromEntries(
      partitions.map(({ partition, embedder }) => {
        const endpoint = embedders.find(({ name }) => name === embedder);
        const field = endpoint?.vector_field ?? null;
        if (field === null)
          throw new AppError(
            'MIGRATION_NOT_POSSIBLE',
            `The partition ${partition} uses the embedder ${embedder}, which is not registered. Register it, or give ` +
              'the partition another one, and run the migration again.',
          );
        if (endpoint?.dimension != null && endpoint.dimension !== dimension)
          throw new AppError(
            'MIGRATION_NOT_POSSIBLE',
            `The embedder ${embedder} of the partition ${partition} gives vectors of ${endpoint.dimension} numbers, ` +
              `the stored ones have ${String(dimension)}.`,
          );
        return [partition, field];
      }),
    );
  };

  const targetFields = async (live: ChunkIndex) => {
    const held = await indexes.vectorFields(live.index);
    const moved = await fieldsOf(live.index, live.schema);
    if (moved === undefined) return held;
    const dimension = held[0]?.dimension;
    if (dimension === undefined) return [];
    return [...new Set(Object.values(moved))].map((vectorField) => ({ vectorField, dimension, unit: false }));
  };

  const start = async (mode: MigrationMode): Promise<Position> => {
    const live = await findLive();
    // A run that was ended in Temporal while it switched has left the block.
    if (live !== null && mode !== 'dry_run') await indexes.blockWrites(live.index, false);
    if (mode === 'rollback') return startRollback(indexes, live);
    const nothing = {
      phase: 'done' as const,
      source: '',
      target: '',
      after: [],
      copied: 0,
      total: 0,
      figures: {},
    };
    if (live === null || !isBehind(live)) return nothing;
    const fields = await targetFields(live);
    const traps =
      live.schema < FIELD_PER_EMBEDDER
        ? await indexes.countTraps(live.index, Object.keys((await fieldsOf(live.index, live.schema)) ?? {}))
        : {};
    const figures = { chunks: live.chunks, ...traps };
    if (mode === 'dry_run') return { ...nothing, total: live.chunks, figures };
    const target = await indexes.create(fields);
    return {
      phase: 'copying',
      source: live.index,
      target,
      after: [],
      copied: 0,
      total: live.chunks,
      figures,
    };
  };

  /** Pages until the source is copied to its end, or the slice is over. */
  const copy = async (position: Position, control: SliceControl): Promise<Position> => {
    const options = await copyOptions(position, control.signal);
    let at = position;
    for (let left = 0; ;) {
      if (left <= 0) {
        await control.pace();
        left = PAGE;
      }
      const { source, target, after } = at;
      const began = Date.now();
      const size = at.isSearched === true ? PART : left;
      const page = await indexes.copy({ source, target, after, size }, options);
      left -= size;
      at = {
        ...at,
        phase: page.complete ? 'comparing' : 'copying',
        after: page.after,
        copied: Math.min(at.total, at.copied + page.copied),
        searches: page.searches,
        isSearched: at.searches !== undefined && page.searches !== at.searches,
      };
      control.reached(toSlice(at));
      if (at.phase === 'comparing') return at;
      if (at.isSearched === true) await rest(REST * (Date.now() - began), control.signal);
      if (control.isOver()) return at;
    }
  };

  const copyOptions = async ({ source }: Position, signal: AbortSignal) => {
    const schema = (await indexes.list()).find(({ index }) => index === source)?.schema;
    const fields = schema === undefined ? undefined : await fieldsOf(source, schema);
    return { signal, ...(fields === undefined ? {} : { fields }) };
  };

  /** Deletions, and a sample of the vectors, while writers still go on. */
  const compare = async (position: Position, control: SliceControl): Promise<Position> => {
    const options = await copyOptions(position, control.signal);
    const { written, deleted } = await indexes.align(position, options);
    const { compared, differing } = await indexes.compareVectors(position, { ...options, sample: SAMPLE });
    // A chunk that was written in between differs; so few are compared again at the switch.
    const figures = {
      ...position.figures,
      chunks_written_again: written,
      chunks_deleted_meanwhile: deleted,
      vectors_compared: compared,
    };
    return { ...position, figures, phase: differing === 0 ? 'switching' : 'copying' };
  };

  /** Writers wait from here to the end. */
  const switchOver = async (position: Position, control: SliceControl): Promise<Position> => {
    const { source, target } = position;
    const done: Position = { ...position, phase: 'done', copied: position.total };
    if ((await findLive())?.index === target) return done;
    const options = await copyOptions(position, control.signal);
    const began = Date.now();
    await indexes.blockWrites(source, true);
    for (let { after } = position; ;) {
      const page = await indexes.copy({ source, target, after, size: PAGE }, options);
      if (page.complete) break;
      ({ after } = page);
    }
    await indexes.align(position, options);
    const unlike = await indexes.countUnlike(position);
    const { compared, differing } = await indexes.compareVectors(position, { ...options, sample: SAMPLE });
    if (unlike > 0 || differing > 0)
      throw new AppError(
        'MIGRATION_NOT_POSSIBLE',
        `The new index has other chunks of ${unlike} files, and ${differing} of ${compared} vectors differ.`,
      );
    await indexes.swap({ source, target });
    const figures = {
      ...position.figures,
      chunks_verified: await chunksOf(target),
      milliseconds_without_writes: Date.now() - began,
    };
    return { ...done, figures };
  };

  const chunksOf = async (index: string): Promise<number> =>
    (await indexes.list()).find((found) => found.index === index)?.chunks ?? 0;

  return {
    name: 'vector-store',
    title: 'Brings the index of the chunks to the shape of this release',
    unit: 'chunks',
    modes: ['dry_run', 'run', 'verify', 'rollback'],

    async pending(): Promise<PendingMigration | null> {
      const live = await findLive();
      if (live === null || !isBehind(live)) return null;
      const obstacle = await targetFields(live).then(
        () => null,
        (error: unknown) => AppError.from(error).message,
      );
      return {
        what: whatOf(live, present),
        amount: live.chunks,
        dark: live.schema < FIELD_PER_EMBEDDER ? ['searches', 'uploads'] : [],
        obstacle,
      };
    },

    async slice(mode, from, control) {
      if (mode === 'verify') return giveVerdict(from) ?? verify(from, control);
      let position = (from as Position | null) ?? (await start(mode));
      if (from !== null)
        switch (position.phase) {
          case 'copying':
            position = await copy(position, control);
            break;
          case 'comparing':
            position = await compare(position, control);
            break;
          case 'switching':
            position = await switchOver(position, control);
            break;
          case 'preparing':
          case 'done':
            break;
        }
      return toSlice(position);
    },

    async abandon(mode, from) {
      const position = from as Position | null;
      if (mode === 'verify' || position === null || position.source === '') return;
      const all = await indexes.list();
      const live = all.find((found) => found.live)?.index;
      if (live === position.source) await indexes.blockWrites(position.source, false);
      // A rollback's target is the index that is kept.
      if (live !== position.target && mode === 'run')
        await indexes.drop(position.target).catch(ignoreMissing);
    },
  };
}

function whatOf({ schema, step, shards }: ChunkIndex, present: ChunkIndexes['present']): string {
  if (schema < FIELD_PER_EMBEDDER)
    return `The index has schema ${schema}: one vector field for all. Each embedder gets its own.`;
  if (step < present.step)
    return `The index was made by step ${step} of schema ${schema}; this release makes step ${present.step}.`;
  return `The index has ${shards} shards; OPENSEARCH_INDEX_SHARDS asks for ${String(present.shards)}.`;
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal });
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
}

function toSlice(position: Position): MigrationSlice {
  return {
    position,
    ended: position.phase === 'done',
    cancellable: position.phase !== 'switching',
    done: position.copied,
    total: position.total,
    figures: position.figures,
  };
}

/** Back to the index that the live one replaced: what was written since is copied there. */
async function startRollback(indexes: ChunkIndexes, live: ChunkIndex | null): Promise<Position> {
  const replaced = live?.replaced ?? null;
  const kept = (await indexes.list()).find(({ index }) => index === replaced?.index);
  if (live === null || replaced === null || kept === undefined)
    throw new AppError('MIGRATION_NOT_POSSIBLE', 'No index is kept that the present one has replaced.');
  if (kept.schema !== live.schema)
    throw new AppError(
      'MIGRATION_NOT_POSSIBLE',
      `The kept index has schema ${kept.schema}: this release cannot write it, so what was stored since would be lost.`,
    );
  await indexes.blockWrites(kept.index, false);
  return {
    phase: 'copying',
    source: live.index,
    target: kept.index,
    after: replaced.writes,
    copied: 0,
    total: live.chunks,
    figures: { chunks: live.chunks },
  };
}
