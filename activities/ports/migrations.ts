/** Migrations and the records of their runs; see `adapters.ts` for the rules that hold for all ports. */
import type {
  MigrationMode,
  MigrationName,
  MigrationPosition,
  MigrationRun,
} from '../../schemas/migrations/migrations.js';

/** What a run says of itself after each slice. */
export type MigrationProgress = Pick<
  MigrationRun,
  'phase' | 'done' | 'total' | 'figures' | 'pages_per_second'
>;

export interface MigrationStore {
  /** Repeating it changes nothing. */
  insert(
    run: Pick<MigrationRun, 'run_id' | 'name' | 'mode' | 'unit' | 'pages_per_second' | 'started_by'>,
  ): Promise<void>;
  get(runId: string): Promise<MigrationRun | null>;
  /** The latest run of each mode of each migration. */
  latest(): Promise<MigrationRun[]>;
  /** Runs of a migration, the newest first. */
  list(name: MigrationName, limit: number): Promise<MigrationRun[]>;
  /** Of a run that has not ended; `done` never goes down. */
  report(runId: string, progress: MigrationProgress): Promise<void>;
  /** Of a run that has not ended. */
  setPaused(runId: string, paused: boolean): Promise<void>;
  /** Once; repeating it changes nothing. */
  finish(runId: string, end: Pick<MigrationRun, 'state' | 'error'>): Promise<void>;
}

/** What there is to migrate. */
export interface PendingMigration {
  /** In plain words. */
  what: string;
  /** How many of the migration's unit; null: not known. */
  amount: number | null;
  /** What does not work until it ran; empty: nothing. */
  dark: string[];
  /** Why a run would fail as things stand, with what to do. */
  obstacle: string | null;
}

/** Given to each slice by what runs it. */
export interface SliceControl {
  signal: AbortSignal;
  /** Whether the slice is to end; asked between pages. */
  isOver(): boolean;
  /** Keeps the pages a second within the limit of the run; to be awaited before each page. */
  pace(): Promise<void>;
  /** An attempt that follows a crash goes on from its position; who watches sees how far it is. */
  reached(slice: MigrationSlice): void;
}

/** What a slice came to. */
export interface MigrationSlice {
  /** The next slice starts here. */
  position: MigrationPosition;
  ended: boolean;
  /** Whether it can be given up at this point. */
  cancellable: boolean;
  done: number;
  total: number | null;
  figures: Record<string, number>;
}

/**
 * A migration in slices of some seconds. Each slice continues at the position at which the one before ended, does pages
 * until it is told to end, and may be repeated from any position that it reported.
 */
export interface Migration {
  name: MigrationName;
  /** What it does, in plain words. */
  title: string;
  unit: string;
  modes: readonly MigrationMode[];
  /** Null: there is nothing to do. */
  pending(): Promise<PendingMigration | null>;
  /** @param position null: the start @throws AppError when it cannot be done; what it says is shown */
  slice(
    mode: MigrationMode,
    position: MigrationPosition | null,
    control: SliceControl,
  ): Promise<MigrationSlice>;
  /** Removes what a run that is given up had built. Repeating it is harmless. */
  abandon(mode: MigrationMode, position: MigrationPosition | null): Promise<void>;
}

/** What the gateway asks of Temporal for migrations. */
export interface MigrationStarter {
  /** @throws AppError MIGRATION_RUNNING, SERVICE_UNAVAILABLE */
  startMigration(run: {
    runId: string;
    name: MigrationName;
    mode: MigrationMode;
    unit: string;
    pagesPerSecond: number | null;
    startedBy: string;
  }): Promise<void>;
  /** Each @throws AppError MIGRATION_NOT_RUNNING, SERVICE_UNAVAILABLE */
  pauseMigration(name: MigrationName): Promise<void>;
  resumeMigration(name: MigrationName): Promise<void>;
  paceMigration(name: MigrationName, pagesPerSecond: number | null): Promise<void>;
  cancelMigration(name: MigrationName): Promise<void>;
}

/** An index of chunks, live or kept. */
export interface ChunkIndex {
  index: string;
  /** Whether searches and writes go to it. */
  live: boolean;
  /** `schema` and `step` as its mapping says; `step` counts changes that need an index built anew. */
  schema: number;
  step: number;
  chunks: number;
  shards: number;
  /**
   * The index that it replaced, and how far its own writes had come then, which an earlier release told of its one
   * shard; null: none that is known.
   */
  replaced: { index: string; writes: WritesReached | number } | null;
}

/** How far the writes of an index have come, by shard: each counts its own. Empty: none. */
export type WritesReached = readonly number[];

/** One page of copying between indexes. */
export interface CopiedPage {
  /** Everything up to here is copied; the next page starts here. */
  after: WritesReached;
  copied: number;
  /** Whether that is all that the source had when it was looked at. */
  complete: boolean;
  /** How many searches it had answered by then; the count begins anew when the engine starts. */
  searches: number;
}

export interface VectorField {
  vectorField: string;
  dimension: number;
  /** Whether all its vectors have length 1. */
  unit: boolean;
}

/** The names of vector fields by partition, where the source has one field for all. */
export type VectorFields = Readonly<Record<string, string>>;

/** The vector store seen as indexes, for migrations alone. Names are those of `ChunkIndex`. */
export interface ChunkIndexes {
  /** What this release writes; `shards` as the operator asks for, null: as they are. */
  readonly present: Pick<ChunkIndex, 'schema' | 'step'> & { shards: number | null };
  /** Live and kept ones, by name. */
  list(): Promise<ChunkIndex[]>;
  /** Creates an empty one of the present shape beside the live one, in place of a former attempt; answers its name. */
  create(fields: readonly VectorField[]): Promise<string>;
  /** Vector fields that an index has. */
  vectorFields(index: string): Promise<VectorField[]>;
  /**
   * Copies what was written to the source after a point in its own count of writes; writers go on. Chunks that were
   * written again since come with a later page, so that pages until one is `complete` bring the target up to date, but
   * for deletions.
   * @param page.after an earlier release had one number, for its one shard
   * @param options.fields given for a source with one vector field for all partitions
   */
  copy(
    page: { source: string; target: string; after: WritesReached | number; size: number },
    options: { fields?: VectorFields; signal: AbortSignal },
  ): Promise<CopiedPage>;
  /**
   * Makes generations that differ in their number of chunks as they are in the source, deletions too. Answers how many
   * chunks were written or deleted.
   */
  align(
    pair: { source: string; target: string },
    options: { fields?: VectorFields; signal: AbortSignal },
  ): Promise<{ written: number; deleted: number }>;
  /** How many versions do not have the same chunks in both. */
  countUnlike(pair: { source: string; target: string }): Promise<number>;
  /** Compares the vectors of a sample; how many of them differ. */
  compareVectors(
    pair: { source: string; target: string },
    options: { fields?: VectorFields; sample: number },
  ): Promise<{ compared: number; differing: number }>;
  /** Chunks by version, as the index has them at this moment. */
  generations(index: string): AsyncIterable<{ fileKey: string; generation: number; chunks: number }>;
  /** How many chunks of a version an index has at this moment. */
  countGeneration(index: string, version: { fileKey: string; generation: number }): Promise<number>;
  /** Published chunks of a partition that have no vector in a field. */
  countWithout(index: string, of: { partition: string; vectorField: string }): Promise<number>;
  /**
   * Compares a sample of a replaced index with the one that replaced it: how many chunks that are still there lack one
   * of their vectors. Further vectors do not count, nor chunks of other partitions than these.
   */
  compareKeptVectors(
    pair: { source: string; target: string },
    options: { sample: number; partitions: readonly string[] },
  ): Promise<{ compared: number; differing: number }>;
  /** What a source with one vector field holds that does not move as it is. */
  countTraps(index: string, partitions: readonly string[]): Promise<Record<string, number>>;
  /** From its answer on no write reaches the index, and those before are in it. Writers try again meanwhile. */
  blockWrites(index: string, blocked: boolean): Promise<void>;
  /** In one call: searches and writes go to the target; the source is kept. */
  swap(pair: { source: string; target: string }): Promise<void>;
  /** @throws AppError MIGRATION_NOT_POSSIBLE for the live one, NOT_FOUND for all but the name of a listed one */
  drop(index: string): Promise<void>;
}

/** A record as it is stored, whatever release wrote it. Its id is a text or a number, of one kind in a collection. */
export interface StoredRecord {
  id: string | number;
  /** Of the fields that were asked for those that it has. */
  fields: Readonly<Record<string, unknown>>;
}

export interface RecordChange {
  /** As it was read: one that was changed since stays as it is. */
  record: StoredRecord;
  set?: Readonly<Record<string, unknown>>;
  unset?: readonly string[];
}

/** Our own records beneath the stores, for steps that bring them to another shape; of their fields the top level. */
export interface RecordCollections {
  /** About how many records there are, without counting them. */
  estimate(collection: string): Promise<number>;
  /** By id, from behind a point; `null`: from the first on. */
  page(
    collection: string,
    page: { after: string | number | null; size: number; fields: readonly string[] },
  ): Promise<StoredRecord[]>;
  /**
   * Changes each record whose `fields` are as they were read. Answers how many were.
   * @param fields all that were read
   */
  change(collection: string, fields: readonly string[], changes: readonly RecordChange[]): Promise<number>;
}

/** Which steps over our own records are done, by name. */
export interface RecordStepStore {
  applied(): Promise<string[]>;
  /** Repeating it is harmless. */
  markApplied(step: string): Promise<void>;
}
