/** Question sets, evaluation runs and feedback; see `adapters.ts` for the rules that hold for all ports. */
import type {
  EvaluationQuestion,
  EvaluationRunRecord,
  EvaluationStart,
  EvaluationStatus,
  EvaluationSummary,
  FeedbackRecord,
  QuestionResult,
  QuestionSetVersion,
  Rating,
} from '../../schemas/retrieval/evaluation.js';

/** The workflows that ask the questions. */
export interface EvaluationStarter {
  /** @throws AppError EVALUATION_RUNNING, SERVICE_UNAVAILABLE */
  startEvaluation(run: EvaluationStart): Promise<void>;
  /**
   * False when no workflow is at work on this run, though one may be on another.
   * @throws AppError SERVICE_UNAVAILABLE
   */
  cancelEvaluation(run: Pick<EvaluationStart, 'run_id' | 'partition_key'>): Promise<boolean>;
}

export interface QuestionSetStore {
  /**
   * A new version, with the next number of its name. It is seen once all its questions are stored. The versions beyond
   * the newest `keep` go.
   * @param after the version that this one follows, null for none: another upload of the set since then, or one that is
   *   being stored, is a conflict. Left out: whatever is the newest
   * @throws AppError CONFLICT, also when the set is removed meanwhile
   */
  add(
    set: Pick<QuestionSetVersion, 'partition_key' | 'name' | 'note' | 'created_by'>,
    questions: readonly EvaluationQuestion[],
    keep: number,
    after?: number | null,
  ): Promise<QuestionSetVersion>;
  /** The newest version of each set, by name. */
  list(partitionKey: string): Promise<QuestionSetVersion[]>;
  /** The versions of a set, the newest first. */
  versions(partitionKey: string, name: string): Promise<QuestionSetVersion[]>;
  /** @param version null: the newest */
  get(partitionKey: string, name: string, version: number | null): Promise<QuestionSetVersion | null>;
  /** In the order of the set. */
  questions(versionId: string, from: number, limit: number): Promise<EvaluationQuestion[]>;
  /** All its versions. False when there is none. */
  remove(partitionKey: string, name: string): Promise<boolean>;
  removeAll(partitionKey: string): Promise<void>;
}

export interface EvaluationRunStore {
  /** Begins a run; repeating it changes nothing. */
  insert(run: EvaluationStart): Promise<void>;
  get(runId: string): Promise<EvaluationRunRecord | null>;
  /** The newest first. */
  list(partitionKey: string, limit: number): Promise<EvaluationRunRecord[]>;
  /** Keeps results and counts them; of a question that has one, the first stays. Ended runs take none. */
  record(runId: string, results: readonly QuestionResult[]): Promise<void>;
  /** By their place in the set. */
  results(runId: string, from: number, limit: number): Promise<QuestionResult[]>;
  /** Running → final, once. */
  finish(
    runId: string,
    end: {
      status: Exclude<EvaluationStatus, 'running'>;
      error: string | null;
      summary: EvaluationSummary | null;
    },
  ): Promise<void>;
  /** With its results. False when there is no such run. */
  remove(runId: string): Promise<boolean>;
  removeAll(partitionKey: string): Promise<void>;
}

export type NewFeedback = Omit<FeedbackRecord, 'feedback_id' | 'used_in' | 'created_at' | 'updated_at'>;

export interface FeedbackStore {
  /** What a user says of an answer anew replaces what was said. Beyond `keep` the oldest of this user here go. */
  put(feedback: NewFeedback, keep: number): Promise<FeedbackRecord>;
  /** The newest first. Which they are alone: a thousand of them hold a hundred megabytes. */
  list(
    partitionKey: string,
    options: { rating?: Rating; limit: number; offset: number },
  ): Promise<Pick<FeedbackRecord, 'feedback_id'>[]>;
  getMany(partitionKey: string, feedbackIds: readonly string[]): Promise<FeedbackRecord[]>;
  /** Notes that a set has them as questions. */
  markUsed(partitionKey: string, feedbackIds: readonly string[], set: string): Promise<void>;
  /** False when there is no such feedback. */
  remove(partitionKey: string, feedbackId: string): Promise<boolean>;
  removeUser(userId: number): Promise<void>;
  removeAll(partitionKey: string): Promise<void>;
}
