/** Background tasks, workers and completion callbacks; see `adapters.ts` for the rules that hold for all ports. */
import type { Metadata } from '../../schemas/documents/documents.js';
import type { ParseReport } from '../../schemas/documents/parse-report.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type {
  CallbackRecord,
  CallbackState,
  EnrichmentStage,
  PictureCount,
  Stage,
  TaskFailure,
  TaskHead,
  TaskRecord,
  TaskState,
  WorkerRecord,
} from '../../schemas/documents/tasks.js';

export interface TaskProgress {
  stage?: Stage;
  /** 0 to 1. */
  progress?: number;
  attempt?: number;
  parser_crashes?: number;
}

/** What reading a file has come to. */
export interface ReadingFacts {
  parseReport?: ParseReport;
  /** What a mail says of its thread, where the client said nothing. */
  relationship?: Pick<TaskRecord, 'relationship_id' | 'parent_id'>;
}

/** What clearing a file away asks of one of its tasks. */
export type FileTask = Pick<
  TaskRecord,
  'task_id' | 'generation' | 'state' | 'handed_over_at' | 'cleaned_at'
> & {
  upload: Pick<TaskRecord['upload'], 'upload_id'>;
};

export interface TaskStore {
  insert(task: TaskRecord): Promise<void>;
  get(taskId: string): Promise<TaskRecord | null>;
  /** Those that exist, by id. */
  getMany(taskIds: readonly string[]): Promise<Map<string, TaskRecord>>;
  /**
   * QUEUED or SERIALIZING → SERIALIZING, `started_at` set once. Answers the record; null when the task has ended. Of a
   * task that was begun before the attempt is 2 at least: in the task of a plan each one is the first by its own count.
   */
  begin(taskId: string, update?: TaskProgress): Promise<TaskRecord | null>;
  /** As `report`, and answers the record. Null when the task has ended. */
  advance(taskId: string, update: TaskProgress): Promise<TaskRecord | null>;
  /** Guarded on an active state. False when the task has ended: the caller stops working. */
  report(taskId: string, update: TaskProgress): Promise<boolean>;
  /** Notes what reading the file and enrichment have come to so far; harmless once the task has ended. */
  noteEnrichment(
    taskId: string,
    added: ReadingFacts & {
      derivedMetadata?: Metadata;
      contextParts?: number;
      pictures?: PictureCount;
      degradedStages?: EnrichmentStage[];
    },
  ): Promise<void>;
  /** Active → final, once. False when it was final already. */
  finish(
    taskId: string,
    state: Extract<TaskState, 'COMPLETED' | 'FAILED' | 'CANCELLED'>,
    failure?: TaskFailure,
  ): Promise<boolean>;
  /**
   * Active → COMPLETED, once, with what reading the file has come to where that is not noted yet. False when it was
   * final already.
   * @param facts.cleaned nothing superfluous is left behind it: `cleaned_at` is set as well
   */
  complete(taskId: string, facts: ReadingFacts & { cleaned: boolean }): Promise<boolean>;
  /** Active tasks among these end CANCELLED. */
  cancelMany(taskIds: readonly string[], failure: TaskFailure): Promise<void>;
  markHandedOver(taskId: string): Promise<void>;
  /** Sets `cleaned_at` of final tasks of a file up to a generation, from its first one on or another. */
  markCleaned(fileKey: string, upToGeneration: number, fromGeneration?: number): Promise<void>;
  /** By generation, and no more of each than clean-up needs: a file can have tens of thousands with long metadata. */
  listByFile(fileKey: string): Promise<FileTask[]>;
  /** Active tasks without a workflow, admitted before a point in time, oldest first. */
  listNotHandedOver(before: Date, limit: number): Promise<TaskRecord[]>;
  /**
   * Active tasks that were handed over before a point in time, in that order.
   * @param from not those that were handed over earlier than that
   */
  listActiveSince(before: Date, limit: number, from?: Date): Promise<TaskRecord[]>;
  /** Final tasks not yet cleaned up, finished before a point in time. */
  listUncleaned(before: Date, limit: number): Promise<TaskRecord[]>;
  remove(taskId: string): Promise<void>;
  scan(): AsyncIterable<TaskRecord>;
  /**
   * Tasks in any of the states, of one user or (null) of all, newest first. Without metadata, which may be 64 KiB each.
   * @param filter.partition only those whose upload was into this one
   */
  list(filter: {
    userId: number | null;
    states: readonly TaskState[];
    partition?: string;
    limit: number;
  }): Promise<TaskHead[]>;
  /** The same of these tasks, by task; missing ones are left out. */
  getHeads(taskIds: readonly string[]): Promise<Map<string, TaskHead>>;
  /** What clients said of their uploads, by task, made of its text where it is looked at; missing ones are left out. */
  readMetadata(taskIds: readonly string[]): Promise<Map<string, Pick<TaskRecord, 'metadata'>>>;
  countByState(): Promise<Record<TaskState, number>>;
  /** Active tasks of one user or (null) of all; counting stops at `most`. */
  countActive(userId: number | null, most: number): Promise<number>;
  /** A user's active tasks that have a workflow; counting stops at `most`. */
  countRunning(userId: number, most: number): Promise<number>;
  /** Per user with tasks that have no workflow yet: how many wait, and how many have one. */
  countTurns(): Promise<{ userId: number; waiting: number; running: number }[]>;
  /** A user's active tasks without a workflow, oldest first: the dispatcher looks at those of all twice a second. */
  listWaiting(userId: number, limit: number): Promise<TaskHead[]>;
  /** Removes records of tasks that ended before a point in time and were cleaned up after. Answers how many. */
  removeEnded(before: Date): Promise<number>;
  /** How many that would be, counted to a limit. */
  countEnded(before: Date, limit: number): Promise<number>;
}

/** Completion callbacks and what became of them. */
export interface CallbackStore {
  /** @throws AppError SERVICE_UNAVAILABLE when a token is given and SECRETS_KEY is not set */
  insert(callback: { taskId: string; url: string; token: string | null }): Promise<void>;
  get(taskId: string): Promise<CallbackRecord | null>;
  noteAttempt(taskId: string, result: { status: number | null; error: string | null }): Promise<void>;
  /** Waiting → something final, once. */
  end(taskId: string, state: Exclude<CallbackState, 'waiting'>): Promise<void>;
  /** Waiting ones that were never tried, of before a point in time, oldest first. */
  listUntried(before: Date, limit: number): Promise<CallbackRecord[]>;
  /** Waiting ones that were tried, the last time before a point in time, in any order. */
  listStalled(before: Date, limit: number): Promise<CallbackRecord[]>;
  remove(taskId: string): Promise<void>;
  /** Removes ended ones of before a point in time. Answers how many. */
  removeEnded(before: Date): Promise<number>;
  /** How many that would be, counted to a limit. */
  countEnded(before: Date, limit: number): Promise<number>;
}

/** Sends completion callbacks, under the guard against private addresses. */
export interface CallbackClient {
  /**
   * One attempt. Answers the status, redirects included: they are not followed.
   * @throws AppError CALLBACK_REFUSED for an address that is not allowed, CALLBACK_FAILED when there is no answer
   */
  post(request: { url: string; token: string | null; body: string; signal?: AbortSignal }): Promise<number>;
  close(): Promise<void>;
}

/** What worker processes tell of themselves, and what is asked of them. */
export interface WorkerStore {
  /** Puts down a process's record anew. */
  report(worker: WorkerRecord): Promise<void>;
  withdraw(workerId: string): Promise<void>;
  /** Processes that reported since a point in time. */
  list(since: Date): Promise<WorkerRecord[]>;
  /** Asks every process to make this pool anew. */
  requestRestart(pool: string): Promise<void>;
  /** When each pool was last asked to. */
  restarts(): Promise<Map<string, Date>>;
}

/** The workflows of tasks, as a worker sees them. */
export interface IndexingPlans {
  /**
   * `unknown`: Temporal has never heard of it, or has forgotten it.
   * @throws whatever the call to Temporal fails with
   */
  stateOf(task: Pick<TaskRecord, 'file_key' | 'generation'>): Promise<'open' | 'closed' | 'unknown'>;
}

/** What the gateway asks of Temporal. Each call may fail when Temporal is away; records and the sweep make it good. */
export interface WorkflowStarter {
  /** @param options.small see `isSmallText` */
  startIndexing(task: TaskRecord, options?: { small?: boolean }): Promise<void>;
  cancelIndexing(task: Pick<TaskRecord, 'file_key' | 'generation'>): Promise<void>;
  startCleaning(fileKey: string, generation: number): Promise<void>;
  /** There are tasks that wait for their turn. */
  notifyDispatcher(): Promise<void>;
  /** The words of a large file's chunks follow its record. */
  startSettling(fileKey: string, token: string): Promise<void>;
  startCleaningPartition(deleted: Pick<PartitionRecord, 'partition' | 'partition_key'>): Promise<void>;
  ping(): Promise<void>;
}
