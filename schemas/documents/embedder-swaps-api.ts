import { z } from 'zod';
import { SWAP_STATUSES } from './embedder-swaps.js';

/** Bodies of the endpoints of swaps. */

const Share = z.number().min(0).max(1);
const gates = {
  min_overlap: Share.nullish().meta({
    description:
      "Least share of the present embedder's first ten chunks that the new one must find too, else no switch",
  }),
  min_known_item: Share.nullish().meta({
    description: 'Least mean reciprocal rank of known texts with the new embedder, else no switch',
  }),
  question_set: z.string().min(1).max(255).nullish().meta({
    description: 'Name of a question set of the partition that is asked of both embedders before the switch',
  }),
  min_ndcg: Share.nullish().meta({
    description: 'Least nDCG@10 over the question set with the new embedder, else no switch',
  }),
};
const NO_QUESTIONS = { path: ['min_ndcg'], message: "'min_ndcg' needs a 'question_set'" };

function hasQuestions(asked: {
  question_set?: string | null | undefined;
  min_ndcg?: number | null | undefined;
}) {
  return asked.min_ndcg == null || asked.question_set != null;
}

const Name = z.string().min(1).max(255);

export const EmbedderSwapBody = z
  .strictObject({ embedder: Name.meta({ description: 'The embedder to come' }), ...gates })
  .refine(hasQuestions, NO_QUESTIONS)
  .meta({ id: 'EmbedderSwapBody' });

export const EmbedderSwapsBody = z
  .strictObject({
    source: Name.meta({ description: 'Every partition of this embedder' }),
    target: Name.meta({ description: 'The embedder to come' }),
    concurrency: z.int().min(1).max(16).default(2).meta({ description: 'Partitions at a time' }),
    ...gates,
  })
  .refine(hasQuestions, NO_QUESTIONS)
  .meta({ id: 'EmbedderSwapsBody' });

export const EmbedderSwapsStarted = z
  .object({
    source: z.string(),
    target: z.string(),
    partitions: z.int().meta({ description: 'That are on the source now' }),
  })
  .meta({ id: 'EmbedderSwapsStarted' });

export const EmbedderSwap = z
  .object({
    swap_id: z.string(),
    partition: z.string(),
    source_embedder: z.string(),
    target_embedder: z.string(),
    status: z.enum(SWAP_STATUSES),
    phase: z.string().meta({ description: 'What is being done, in plain words' }),
    files_total: z.int().nullable(),
    files_done: z.int(),
    chunks_over_window: z.int().meta({ description: 'Chunks that the new embedder takes in parts alone' }),
    min_overlap: z.number().nullable(),
    min_known_item: z.number().nullable(),
    question_set: z.string().nullable(),
    min_ndcg: z.number().nullable(),
    figures: z
      .object({
        sampled: z.int().meta({ description: "Of the partition's own texts, taken as questions" }),
        overlap: z.number(),
        known_item_before: z.number(),
        known_item_after: z.number(),
        questions: z
          .object({ count: z.int(), ndcg_before: z.number(), ndcg_after: z.number() })
          .nullable()
          .meta({ description: 'Of the question set, those that name relevant items' }),
      })
      .nullable(),
    error: z.string().nullable().meta({ description: 'Why it failed, for people' }),
    error_code: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed, by a code of the table of errors' }),
    started_by: z.string(),
    started_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'EmbedderSwap' });

export const EmbedderSwapList = z.object({ swaps: z.array(EmbedderSwap) }).meta({ id: 'EmbedderSwapList' });
