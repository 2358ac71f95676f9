/** Imports from another service of the same contract; see `adapters.ts` for the rules that hold for all ports. */
import type { ImportRun, ImportSource, RefusedFile } from '../../schemas/imports/imports.js';
import type { Downloads } from './downloads.js';

/** Sources with their sealed tokens, and the records of runs. */
export interface ImportStore {
  /**
   * Puts down where a source is, in place of what was known; what its users became stays.
   * @throws AppError SERVICE_UNAVAILABLE without SECRETS_KEY: the token could not be kept
   */
  putSource(source: { source_id: string; url: string; token: string }): Promise<void>;
  getSource(sourceId: string): Promise<ImportSource | null>;
  listSources(): Promise<ImportSource[]>;
  /** Null: there is no such source. @throws AppError CONFIG_ERROR when the token cannot be opened */
  openToken(sourceId: string): Promise<string | null>;
  /** Which of our users one of the source became. */
  mapUser(sourceId: string, theirs: number, ours: number): Promise<void>;
  /** Repeating it changes nothing. */
  insertRun(run: Pick<ImportRun, 'run_id' | 'source_id' | 'dry_run' | 'started_by'>): Promise<void>;
  getRun(runId: string): Promise<ImportRun | null>;
  /** Runs of a source, the newest first. */
  listRuns(sourceId: string, limit: number): Promise<ImportRun[]>;
  /** Of a run that has not ended; `done` never goes down. `refused` are added to those there are. */
  report(
    runId: string,
    progress: Pick<ImportRun, 'phase' | 'done' | 'total' | 'figures'> & { refused: readonly RefusedFile[] },
  ): Promise<void>;
  /** Of a run that has not ended. */
  setPaused(runId: string, paused: boolean): Promise<void>;
  /** Once; repeating it changes nothing. */
  finish(runId: string, end: Pick<ImportRun, 'state' | 'error'>): Promise<void>;
}

/** A source that answers. Paths begin with a slash and come behind its address. */
export interface SourceService {
  /**
   * The body of an answer; integers beyond 2^53 are bigints. Null where it answers 404.
   * @throws AppError IMPORT_SOURCE_REFUSED, with the status as `answered` among its details, IMPORT_SOURCE_FAILED
   */
  json(path: string): Promise<unknown>;
  /**
   * Hands over the elements of one list of an answer as they come, each as its JSON; the answer is never held as a
   * whole. A SyntaxError of `take` counts as one of the answer. False where it answers 404.
   * @throws AppError likewise
   */
  eachOf(path: string, list: string, take: (element: Buffer) => void): Promise<boolean>;
  /** Reads the bytes at a path. @throws AppError likewise; NOT_FOUND, PAYLOAD_TOO_LARGE */
  downloads: Pick<Downloads, 'open'>;
}

export interface ImportSources {
  /** Asks no more than so many times a second. The signal ends every call. */
  open(
    source: { url: string; token: string },
    options: { requestsPerSecond: number; signal: AbortSignal },
  ): SourceService;
  close(): Promise<void>;
}

/** What the gateway asks of Temporal for imports. */
export interface ImportStarter {
  /** @throws AppError IMPORT_RUNNING, SERVICE_UNAVAILABLE */
  startImport(run: {
    runId: string;
    sourceId: string;
    dryRun: boolean;
    requestsPerSecond: number;
    startedBy: string;
  }): Promise<void>;
  /** Each @throws AppError IMPORT_NOT_RUNNING, SERVICE_UNAVAILABLE */
  pauseImport(sourceId: string): Promise<void>;
  resumeImport(sourceId: string): Promise<void>;
  cancelImport(sourceId: string): Promise<void>;
}
