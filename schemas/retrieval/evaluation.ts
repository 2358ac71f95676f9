/** The records of evaluation: question sets, runs over them, and feedback on answers. */
import type { RetrievalConfig } from '../models/presets.js';

/** What answers a question: a file, a passage of it, or a passage wherever it stands. */
export interface RelevantItem {
  /** Null: in whatever file the passage stands. */
  file_id: string | null;
  /** Null: the whole file. */
  passage: string | null;
  /** 1 or more; the gain of finding it. */
  grade: number;
}

export interface EvaluationQuestion {
  /** Unique within a set; two runs are compared by it. */
  id: string;
  question: string;
  /** Empty where only an answer is expected, or none. */
  relevant: RelevantItem[];
  expected_answer: string | null;
  /** The partition does not hold the answer, and chat must say so. */
  not_answerable: boolean;
}

/** One version of a set; its questions never change. */
export interface QuestionSetVersion {
  version_id: string;
  partition_key: string;
  name: string;
  /** Counts from 1. */
  version: number;
  questions: number;
  not_answerable: number;
  /** Where the questions come from, for people. */
  note: string | null;
  /** The id of the user. */
  created_by: string;
  created_at: Date;
}

export const EVALUATION_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const;
export type EvaluationStatus = (typeof EVALUATION_STATUSES)[number];

/** How a run asks. */
export interface EvaluationSettings {
  /** Ask chat as well, which costs an answer of the model for each question. */
  chat: boolean;
  /** Chunks asked of search. */
  top_k: number;
  /** The retrieval preset; null: the partition's. */
  preset: string | null;
  /** Fields of the preset that this run sets otherwise. */
  overrides: Partial<RetrievalConfig>;
}

/** The measures of a question, each between 0 and 1, and what their means say of a run. */
const RETRIEVAL_MEASURES = ['ndcg_10', 'recall_10', 'recall_50', 'mrr'] as const;
const CHAT_MEASURES = [
  'citation_precision',
  'citation_recall',
  'verified',
  'answer_recall',
  'refused_right',
  'refused_wrong',
] as const;
export const EVALUATION_MEASURES = [...RETRIEVAL_MEASURES, ...CHAT_MEASURES] as const;
export type EvaluationMeasure = (typeof EVALUATION_MEASURES)[number];

/** A measure that says nothing of a question is left out of it. */
export type Measured = Partial<Record<EvaluationMeasure, number>>;

/** What came of one question. */
export interface QuestionResult {
  /** Place in the set, from 0. */
  index: number;
  question_id: string;
  question: string;
  measures: Measured;
  /** The first files found, best first. */
  found: string[];
  search_ms: number;
  /** Null: chat was not asked. */
  chat: { answer: string; refused: boolean; cited: string[]; ms: number } | null;
  /** Why it could not be asked; its measures are those of finding nothing. */
  error: { code: string; message: string } | null;
}

/** A mean over questions with its 95 % bootstrap interval. */
export interface EvaluationFigure {
  mean: number;
  low: number;
  high: number;
  count: number;
}

/** Milliseconds. */
export interface Latency {
  p50: number;
  p95: number;
}

export interface EvaluationSummary {
  /** Questions that could not be asked. */
  failed: number;
  /** A measure without a question that it says something of is left out. */
  measures: Partial<Record<EvaluationMeasure, EvaluationFigure>>;
  search: Latency | null;
  chat: Latency | null;
}

export interface EvaluationRunRecord {
  run_id: string;
  partition: string;
  partition_key: string;
  set: string;
  version: number;
  version_id: string;
  /** What a person calls it. */
  label: string | null;
  settings: EvaluationSettings;
  /** The preset with its overrides as it was at the start; null: there was none. */
  config: RetrievalConfig | null;
  status: EvaluationStatus;
  questions_total: number;
  /** Never goes down. */
  questions_done: number;
  /** Null until it is completed. */
  summary: EvaluationSummary | null;
  /** Why it failed, for people. */
  error: string | null;
  started_by: string;
  started_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}

/** What its start decides of a run. */
export type EvaluationStart = Pick<
  EvaluationRunRecord,
  | 'run_id'
  | 'partition'
  | 'partition_key'
  | 'set'
  | 'version'
  | 'version_id'
  | 'label'
  | 'settings'
  | 'config'
  | 'questions_total'
  | 'started_by'
>;

export const RATINGS = ['up', 'down'] as const;
export type Rating = (typeof RATINGS)[number];

/** A chunk that an answer was given from. No text of it is kept, which goes with its file. */
export interface FeedbackSource {
  chunk_id: string;
  file_id: string;
  cited: boolean;
}

/** What a user said of an answer. */
export interface FeedbackRecord {
  feedback_id: string;
  partition_key: string;
  user_id: number;
  /** The `id` of the chat completion. */
  answer_id: string;
  rating: Rating;
  question: string;
  answer: string;
  comment: string | null;
  sources: FeedbackSource[];
  /** The sets that it became a question of. */
  used_in: string[];
  created_at: Date;
  updated_at: Date;
}
