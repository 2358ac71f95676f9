import { z } from 'zod';
import { Link, OpenMetadata, queryNumber } from '../documents/documents-api.js';

/** Queries and answers of searches, as `/openapi.json` shows them. */

/** What a search of one file takes; the others take more. */
export const FileSearchQuery = z.object({
  text: z.string().meta({ description: 'What to look for' }),
  top_k: queryNumber(z.int().min(1).max(1000)).default(5),
  similarity_threshold: queryNumber(z.number().min(0).max(1))
    .optional()
    .meta({ description: 'Raw cosine, on the vector leg only' }),
  filter: z
    .string()
    .optional()
    .meta({
      description:
        'Conditions on metadata, at most 2048 characters: `==`, `!=`, `<`, `<=`, `>`, `>=`, `in [..]`, `like "abc%"`, ' +
        '`and`, `or`, `not`, parentheses. Keys are named directly, or as `metadata["any key"]`',
      examples: ['owner == "ada" and created_at >= ISO "2024-01-01T00:00:00Z"'],
    }),
});

export const SearchQuery = FileSearchQuery.extend({
  workspace: z.string().optional().meta({ description: 'Only files of this workspace' }),
  include_related: z
    .stringbool()
    .default(false)
    .meta({ description: 'Add chunks of files with the same relationship id' }),
  include_ancestors: z
    .stringbool()
    .default(false)
    .meta({ description: 'Add chunks of files above, along the parent ids' }),
  related_limit: queryNumber(z.int().min(0))
    .default(20)
    .meta({ description: 'Chunks added at most for a group and for a chain; 2,000 in all' }),
  max_ancestor_depth: queryNumber(z.int().min(0)).optional(),
  include_retrieval_trace: z
    .stringbool()
    .default(false)
    .meta({ description: 'Tell how the results came about; administrators only' }),
});
export type SearchQuery = z.output<typeof SearchQuery>;

export const SearchEverywhereQuery = SearchQuery.extend({
  partitions: z.array(z.string()).default(['all']),
});

const TraceLeg = z.object({
  hits: z.array(z.object({ id: z.string(), raw_score: z.number(), normalised_score: z.number() })),
  dropped: z.array(
    z.object({
      id: z.string(),
      raw_score: z.number(),
      reason: z.enum(['threshold', 'generation', 'scope', 'file', 'workspace', 'filter', 'duplicate']),
    }),
  ),
});

const Ranking = z.array(z.object({ id: z.string(), score: z.number() }));

const RetrievalTraceBody = z
  .object({
    schema_version: z.literal(1),
    groups: z.array(
      z.object({
        embedder: z.string(),
        model: z.string(),
        partitions: z.array(z.string()),
        rounds: z.int(),
        similarity_threshold: z.number(),
        lexical: TraceLeg,
        dense: TraceLeg,
        feedback: z.object({ from: z.string(), scores: Ranking }).nullable().meta({
          description:
            'The hit towards which the question was moved, and the cosines of all candidates after it',
        }),
      }),
    ),
    fusion: z.object({
      weight: z.number().meta({ description: 'Share of the dense leg' }),
      ranking: Ranking,
    }),
    words: z
      .object({
        words: z
          .array(z.object({ word: z.string(), weight: z.number() }))
          .meta({ description: 'Stems, heaviest first' }),
        scores: Ranking,
        ranking: Ranking.meta({ description: 'With them' }),
      })
      .nullable()
      .meta({ description: 'What the best hits say, and what the others score by their words' }),
    rerank: z
      .object({
        endpoint: z.string(),
        model: z.string(),
        ranking: Ranking,
        skipped: z.string().optional().meta({ description: 'Code of the error for which it was left out' }),
      })
      .nullable(),
    expansion: z.object({ related: z.array(z.string()), ancestors: z.array(z.string()) }).nullable(),
    times: z.record(z.string(), z.number()).meta({ description: 'Milliseconds' }),
  })
  .meta({ id: 'RetrievalTrace' });

export const SearchAnswer = z
  .object({
    documents: z.array(z.object({ link: Link, content: z.string(), metadata: OpenMetadata })),
    retrieval_trace: RetrievalTraceBody.optional(),
    extra: z
      .object({ rerank_skipped: z.string() })
      .optional()
      .meta({ description: 'When reranking was left out: the code of the error' }),
  })
  .meta({ id: 'SearchAnswer' });
