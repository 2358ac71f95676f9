import { z } from 'zod';
import { queryNumber } from '../documents/documents-api.js';
import { MAX_RESULTS, RETRIEVAL_TYPES } from '../models/presets-api.js';
import { EVALUATION_MEASURES, EVALUATION_STATUSES, RATINGS } from './evaluation.js';

/** Bodies of the endpoints of evaluation. */

/** Characters of an upload; the bound of a JSON body is in bytes, and a little above. */
const MAX_CONTENT = 6_000_000;
const MAX_NOTE = 500;
/** Of a page. */
const MAX_PAGE = 1_000;

const Page = z.object({
  offset: queryNumber(z.int().min(0)).default(0),
  limit: queryNumber(z.int().min(1).max(MAX_PAGE)).default(100),
});

export const QuestionSetBody = z
  .strictObject({
    format: z.enum(['jsonl', 'csv']),
    content: z
      .string()
      .max(MAX_CONTENT)
      .meta({
        description:
          'The file. JSON lines: `question`, and any of `id`, `relevant` (file ids, or objects with `file_id`, ' +
          '`passage` and `grade`), `expected_answer`, `not_answerable`. CSV: a header with `question` and any of `id`, ' +
          '`file_id`, `passage`, `grade`, `expected_answer`, `not_answerable`; a question with several relevant items ' +
          'takes several rows',
      }),
    note: z.string().max(MAX_NOTE).nullish().meta({ description: 'Where the questions come from' }),
  })
  .meta({ id: 'QuestionSetBody' });

export const QuestionSetVersionBody = z
  .object({
    name: z.string(),
    version: z.int(),
    questions: z.int(),
    not_answerable: z.int().meta({ description: 'Of these questions' }),
    note: z.string().nullable(),
    created_by: z.string(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'QuestionSetVersion' });

export const QuestionSetList = z
  .object({
    question_sets: z.array(QuestionSetVersionBody).meta({ description: 'The newest version of each' }),
  })
  .meta({ id: 'QuestionSetList' });

export const QuestionSet = z
  .object({
    name: z.string(),
    versions: z.array(QuestionSetVersionBody).meta({ description: 'Newest first' }),
  })
  .meta({ id: 'QuestionSet' });

export const QuestionsQuery = Page.extend({
  version: queryNumber(z.int().min(1)).optional().meta({ description: 'The newest by default' }),
});

const RelevantItemBody = z.object({
  file_id: z.string().nullable(),
  passage: z.string().nullable(),
  grade: z.int(),
});

export const QuestionList = z
  .object({
    version: z.int(),
    total: z.int(),
    questions: z.array(
      z.object({
        id: z.string(),
        question: z.string(),
        relevant: z.array(RelevantItemBody),
        expected_answer: z.string().nullable(),
        not_answerable: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'QuestionList' });

const name = z.string().min(1).max(255);
/** Of a retrieval preset what a run may set otherwise. */
const Overrides = z.strictObject({
  type: z.enum(RETRIEVAL_TYPES).optional(),
  reranker: name.nullable().optional(),
  llm: name.nullable().optional(),
  top_k: z.int().min(1).max(MAX_RESULTS).optional(),
  top_n: z.int().min(1).max(MAX_RESULTS).nullable().optional(),
  enable_reranker: z.boolean().optional(),
  similarity_threshold: z.number().min(0).max(1).nullable().optional(),
  vector_weight: z.number().min(0).max(1).nullable().optional(),
  include_related: z.boolean().optional(),
  include_ancestors: z.boolean().optional(),
  rrf_k: z.int().min(1).max(10_000).optional(),
  hyde_prompt_name: name.nullable().optional(),
  multi_query_prompt_name: name.nullable().optional(),
  query_contextualizer_prompt_name: name.nullable().optional(),
});

export const EvaluationRunBody = z
  .strictObject({
    set: name.meta({ description: 'Name of the question set' }),
    version: z.int().min(1).nullish().meta({ description: 'The newest by default' }),
    label: z.string().max(200).nullish().meta({ description: 'What people call the run' }),
    chat: z
      .boolean()
      .default(false)
      .meta({ description: 'Ask chat as well; costs an answer for each question' }),
    top_k: z
      .int()
      .min(1)
      .max(MAX_RESULTS)
      .default(50)
      .meta({ description: 'Chunks asked of search; below 50 the recall at 50 is that of fewer' }),
    preset: name.nullish().meta({ description: "Name of a retrieval preset; the partition's by default" }),
    overrides: Overrides.default({}).meta({
      description: 'Fields of the preset that this run sets otherwise',
    }),
  })
  .meta({ id: 'EvaluationRunBody' });

const Figure = z
  .object({
    mean: z.number(),
    low: z.number().meta({ description: 'Of the 95 % bootstrap interval over questions' }),
    high: z.number(),
    count: z.int().meta({ description: 'Questions that the measure says something of' }),
  })
  .meta({ id: 'EvaluationFigure' });
const LatencyBody = z.object({ p50: z.number(), p95: z.number() }).meta({ description: 'Milliseconds' });
const Measure = z.enum(EVALUATION_MEASURES);

export const EvaluationRun = z
  .object({
    run_id: z.string(),
    partition: z.string(),
    set: z.string(),
    version: z.int(),
    label: z.string().nullable(),
    settings: z.object({
      chat: z.boolean(),
      top_k: z.int(),
      preset: z.string().nullable(),
      overrides: z.record(z.string(), z.unknown()),
    }),
    status: z.enum(EVALUATION_STATUSES),
    questions_total: z.int(),
    questions_done: z.int(),
    summary: z
      .object({
        failed: z.int().meta({ description: 'Questions that could not be asked' }),
        measures: z.partialRecord(Measure, Figure),
        search: LatencyBody.nullable(),
        chat: LatencyBody.nullable(),
      })
      .nullable()
      .meta({ description: 'Null until it is completed' }),
    error: z.string().nullable(),
    started_by: z.string(),
    started_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'EvaluationRun' });

export const EvaluationRunList = z
  .object({ runs: z.array(EvaluationRun).meta({ description: 'Newest first' }) })
  .meta({ id: 'EvaluationRunList' });

export const ResultsQuery = Page;

const MeasuredBody = z.partialRecord(Measure, z.number());

export const EvaluationResultList = z
  .object({
    total: z.int(),
    results: z.array(
      z.object({
        index: z.int(),
        question_id: z.string(),
        question: z.string(),
        measures: MeasuredBody,
        found: z.array(z.string()).meta({ description: 'The first ten files' }),
        search_ms: z.number(),
        chat: z
          .object({
            answer: z.string(),
            refused: z.boolean(),
            cited: z.array(z.string()).meta({ description: 'File ids' }),
            ms: z.number(),
          })
          .nullable(),
        error: z.object({ code: z.string(), message: z.string() }).nullable(),
      }),
    ),
  })
  .meta({ id: 'EvaluationResultList' });

export const ComparisonQuery = z.object({
  before: z.string().meta({ description: 'Id of the run to compare with' }),
  measure: Measure.default('ndcg_10').meta({ description: 'By which questions got better or worse' }),
  limit: queryNumber(z.int().min(0).max(MAX_PAGE))
    .default(20)
    .meta({ description: 'Questions on each side' }),
});

const Change = z.object({
  question_id: z.string(),
  question: z.string(),
  before: MeasuredBody,
  after: MeasuredBody,
  gain: z.number(),
});

export const EvaluationComparison = z
  .object({
    before: EvaluationRun,
    after: EvaluationRun,
    questions: z.int().meta({ description: 'That both runs have asked' }),
    only_before: z.int(),
    only_after: z.int(),
    measures: z.partialRecord(
      Measure,
      z.object({
        before: z.number(),
        after: z.number(),
        difference: Figure.meta({ description: 'After less before; beyond chance where it does not hold 0' }),
        better: z.int(),
        worse: z.int(),
        same: z.int(),
      }),
    ),
    better: z.array(Change),
    worse: z.array(Change),
  })
  .meta({ id: 'EvaluationComparison' });

const MAX_SOURCES = 200;

export const FeedbackBody = z
  .strictObject({
    answer_id: z.string().min(1).max(100).meta({ description: 'The `id` of the answer' }),
    rating: z.enum(RATINGS),
    question: z.string().trim().min(1).max(8_000),
    answer: z.string().max(32_000),
    comment: z.string().max(2_000).nullish(),
    sources: z
      .array(
        z.strictObject({
          chunk_id: z.string().min(1).max(500).meta({ description: '`_id` of a source in `extra`' }),
          cited: z.boolean().default(false),
        }),
      )
      .max(MAX_SOURCES)
      .default([])
      .meta({
        description: 'What the answer was given from; those that are not in the partition are left out',
      }),
  })
  .meta({ id: 'FeedbackBody' });

export const Feedback = z
  .object({
    feedback_id: z.string(),
    user_id: z.int(),
    answer_id: z.string(),
    rating: z.enum(RATINGS),
    question: z.string(),
    answer: z.string(),
    comment: z.string().nullable(),
    sources: z.array(z.object({ chunk_id: z.string(), file_id: z.string(), cited: z.boolean() })),
    used_in: z.array(z.string()).meta({ description: 'Question sets that it became a question of' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Feedback' });

export const FeedbackQuery = Page.extend({ rating: z.enum(RATINGS).optional() });

export const FeedbackList = z
  .object({ feedback: z.array(Feedback).meta({ description: 'Newest first' }) })
  .meta({ id: 'FeedbackList' });

export const FromFeedbackBody = z
  .strictObject({
    feedback: z
      .array(
        z.strictObject({
          feedback_id: z.string(),
          relevant: z
            .array(
              z.strictObject({
                file_id: name.nullish(),
                passage: z.string().trim().min(1).max(8_000).nullish(),
                grade: z.int().min(1).max(100).default(1),
              }),
            )
            .max(200)
            .nullish()
            .meta({ description: 'Where left out: the files that an answer with thumbs up cites' }),
          expected_answer: z.string().trim().min(1).max(8_000).nullish(),
          not_answerable: z.boolean().default(false),
        }),
      )
      .min(1)
      .max(MAX_PAGE),
    note: z.string().max(MAX_NOTE).nullish(),
  })
  .meta({ id: 'QuestionsFromFeedbackBody' });
