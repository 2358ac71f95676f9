/** The records of background tasks, of their callbacks and of worker processes. */
import { AppError } from '../app-error.js';
import type { ErrorCode } from '../error-table.js';
import type { Metadata, UploadInfo } from './documents.js';
import type { ParseReport } from './parse-report.js';

export const TASK_STATES = ['QUEUED', 'SERIALIZING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type TaskState = (typeof TASK_STATES)[number];
export const ACTIVE_STATES = ['QUEUED', 'SERIALIZING'] as const satisfies readonly TaskState[];
export const FINAL_STATES = ['COMPLETED', 'FAILED', 'CANCELLED'] as const satisfies readonly TaskState[];

/** Of a state as a record holds it, which may be of another release. */
export function isActiveState(state: unknown): boolean {
  return (ACTIVE_STATES as readonly unknown[]).includes(state);
}

export function isFinalState(state: TaskState): boolean {
  return (FINAL_STATES as readonly TaskState[]).includes(state);
}

/** What a model adds to a document. When one fails, the document is indexed without it (wire contract, section 3.2). */
const ENRICHMENT_STAGES = ['caption', 'contextualize', 'topic_tag'] as const;
export type EnrichmentStage = (typeof ENRICHMENT_STAGES)[number];

/** Stages of which a document may lack something and be indexed all the same. */
export const DEGRADABLE_STAGES = ['parse', ...ENRICHMENT_STAGES] as const;

export const STAGES = [
  'queued',
  'parse',
  'chunk',
  ...ENRICHMENT_STAGES,
  'embed',
  'store',
  'publish',
  'done',
] as const;
export type Stage = (typeof STAGES)[number];

export interface TaskFailure {
  code: string;
  message: string;
  /** Lines for administrators; at most 8,000 characters in all. */
  traceback: string[];
}

/** What a task's record says of this error; in its own words unless others are given. */
export function taskFailure(code: ErrorCode, words?: string): TaskFailure {
  return { code, message: new AppError(code, words).message, traceback: [] };
}

/** What became of a document's pictures while it was read. */
export interface PictureCount {
  /** Handed out to be described. */
  kept: number;
  /** Beyond a limit, damaged, or in a format that vision models do not take. Decoration is not counted. */
  leftOut: number;
}

/** What the API says of a background task. A final state never changes. */
export interface TaskRecord {
  task_id: string;
  /** An upload to be read and embedded, or a live version of another file to be copied. */
  kind: 'index' | 'copy';
  state: TaskState;
  stage: Stage;
  /** 0 to 1. */
  progress: number;
  attempt: number;
  /** How often the program that reads the file crashed on it; missing: never. */
  parser_crashes?: number;
  partition: string;
  file_id: string;
  file_key: string;
  generation: number;
  user_id: number;
  /** First indexing of the file (POST) or a replacement (PUT). */
  intent: 'create' | 'replace';
  /** Client metadata as uploaded, protected keys dropped. */
  metadata: Metadata;
  relationship_id: string | null;
  parent_id: string | null;
  upload: UploadInfo;
  /** Of a copy: the version that is copied. */
  source?: { file_key: string; generation: number };
  /** It has a completion callback. */
  has_callback?: boolean;
  /** It was admitted for a user without a quota, so that no place is held for it. */
  takes_no_place?: boolean;
  /** It was taken out of so many mails, one within the other. */
  attachment_depth?: number;
  /** What enrichment added: metadata beside the client's, parts of the list of contexts, and the stages that failed. */
  derived_metadata?: Metadata;
  context_parts?: number;
  /** There when they are to be described. */
  pictures?: PictureCount;
  degraded_stages?: EnrichmentStage[];
  /** There once the file was read. */
  parse_report?: ParseReport;
  /** Of the request that it came with, where that is known. */
  request_id?: string;
  /** The span of that request, where it is traced. */
  traceparent?: string;
  embedder: string;
  error: TaskFailure | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  /** Set once Temporal has the workflow; the sweep starts what lacks it. */
  handed_over_at: Date | null;
  /** Set once nothing superfluous is left of the task; the sweep cleans what lacks it. */
  cleaned_at: Date | null;
}

/** What the list of the queue tells of a task without reading what may be large. */
export type TaskHead = Omit<TaskRecord, 'metadata' | 'derived_metadata' | 'parse_report'>;

/** All stages of which the document lacks something. */
export function degradedStagesOf(
  task: Pick<TaskRecord, 'degraded_stages' | 'parse_report'>,
): (typeof DEGRADABLE_STAGES)[number][] {
  return [
    ...(task.parse_report?.degraded === true ? (['parse'] as const) : []),
    ...(task.degraded_stages ?? []),
  ];
}

export type CallbackState = 'waiting' | 'delivered' | 'failed' | 'withdrawn';

/** Who is to be told of a task's end, and what became of it. */
export interface CallbackRecord {
  task_id: string;
  url: string;
  /** Sent back as a bearer token; sealed in the store. */
  token: string | null;
  state: CallbackState;
  attempts: number;
  /** What the last attempt came to: a status, or why there was none. */
  last_status: number | null;
  last_error: string | null;
  created_at: Date;
  updated_at: Date;
}

/** A worker process as it reports itself every few seconds. */
export interface WorkerRecord {
  worker_id: string;
  /** Documents that it reads at once. */
  slots: number;
  started_at: Date;
  seen_at: Date;
  /** Per pool: when it was last restarted on request; at first the start of the process. */
  renewed: Record<string, Date>;
}
