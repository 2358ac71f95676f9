import { randomUUID } from 'node:crypto';
import type { NewFeedback } from '../../../activities/ports/evaluation.js';
import type {
  EvaluationQuestion,
  EvaluationStart,
  QuestionResult,
} from '../../../schemas/retrieval/evaluation.js';

/** The first cannot be answered, the second has an answer, and all but the first a file. */
export function sampleQuestions(count: number): EvaluationQuestion[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `q${index}`,
    question: `What flows, ${index}?`,
    relevant: index === 0 ? [] : [{ file_id: `f.${index}`, passage: null, grade: index }],
    expected_answer: index === 1 ? 'Water.' : null,
    not_answerable: index === 0,
  }));
}

export function sampleResult(index: number, more: Partial<QuestionResult> = {}): QuestionResult {
  return {
    index,
    question_id: `q${index}`,
    question: `What is ${index}?`,
    measures: { ndcg_10: 0.5, mrr: 1 },
    found: ['f.1', 'f.2'],
    search_ms: 12,
    chat: null,
    error: null,
    ...more,
  };
}

export function sampleFeedback(given: Partial<NewFeedback> = {}): NewFeedback {
  return {
    partition_key: randomUUID(),
    user_id: 7,
    answer_id: `chatcmpl-${randomUUID()}`,
    rating: 'up',
    question: 'What flows?',
    answer: 'Water [1].',
    comment: null,
    sources: [{ chunk_id: 'c', file_id: 'f.1', cited: true }],
    ...given,
  };
}

export function sampleRun(given: Partial<EvaluationStart> = {}): EvaluationStart {
  return {
    run_id: randomUUID(),
    partition: 'library',
    partition_key: randomUUID(),
    set: 'main',
    version: 2,
    version_id: 'v',
    label: null,
    settings: { chat: false, top_k: 50, preset: null, overrides: { top_k: 30 } },
    config: null,
    questions_total: 3,
    started_by: '1',
    ...given,
  };
}
