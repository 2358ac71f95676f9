import { z } from 'zod';
import type { IndexationConfig, RetrievalConfig } from './presets.js';

/** Presets: what they may hold, and request and answer bodies (wire contract, section 1.10). */

export const CHUNKING_STRATEGIES = ['recursive_splitter', 'structured_section'] as const;
/** The exact set that clients know; each format here has one parser, which serves them all. */
export const PARSING_STRATEGIES = ['pymupdf', 'marker', 'docling'] as const;
export const RETRIEVAL_TYPES = ['single', 'multiQuery', 'hyde'] as const;

export const PRESET_TYPES = ['indexation', 'retrieval'] as const;
export const PresetTypeName = z.enum(PRESET_TYPES);

export const MOST_CHUNK_SIZE = 32_768;
export const MOST_RESULTS = 1000;

/** The name of another record; nothing written in it means none. */
const name = z
  .string()
  .max(255)
  .nullable()
  .default(null)
  .transform((text) => (text === '' ? null : text));

const chunking = z.object({
  name: z.enum(CHUNKING_STRATEGIES).default('recursive_splitter'),
  chunk_size: z.int().min(16).max(MOST_CHUNK_SIZE).default(512),
  chunk_overlap_rate: z.number().min(0).lt(1).default(0.2),
});

/** How documents are indexed. Unknown keys are dropped. */
export const IndexationConfigBody = z.object({
  chunking: chunking.prefault({}),
  parsing_strategy: z.enum(PARSING_STRATEGIES).nullable().default(null),
  stt: name,
  asr_transcription_prompt_name: name,
  vlm: name,
  enable_image_captioning: z.boolean().default(false),
  image_captioning_prompt_name: name,
  enable_contextualization: z.boolean().default(false),
  contextualization_llm: name,
  contextualization_mode: z.enum(['none', 'simple', 'structured']).default('none'),
  chunk_contextualizer_prompt_name: name,
  enable_metadata_extraction: z.boolean().default(false),
  enable_entity_extraction: z.boolean().default(false),
  entity_labels: z.array(z.string().max(100)).max(100).default([]),
  enable_topic_tagging: z.boolean().default(false),
  max_topic_tags: z.int().min(1).max(50).default(7),
  topic_tagger_prompt_name: name,
}) satisfies z.ZodType<IndexationConfig>;

/** How questions are answered. Unknown keys are dropped. */
export const RetrievalConfigBody = z.object({
  type: z.enum(RETRIEVAL_TYPES).default('single'),
  reranker: name,
  llm: name,
  top_k: z.int().min(1).max(MOST_RESULTS).default(50),
  top_n: z.int().min(1).max(MOST_RESULTS).nullable().default(null),
  enable_reranker: z.boolean().default(false),
  similarity_threshold: z.number().min(0).max(1).nullable().default(null),
  include_related: z.boolean().default(true),
  include_ancestors: z.boolean().default(true),
  rrf_k: z.int().min(1).max(10_000).default(60),
  hyde_prompt_name: name,
  multi_query_prompt_name: name,
  query_contextualizer_prompt_name: name,
}) satisfies z.ZodType<RetrievalConfig>;

/** Alphanumeric at the start, so that a path and a person can tell where it begins. */
const PresetName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, 'must be letters, digits, spaces, . _ -');

export const NewPreset = z
  .discriminatedUnion('preset_type', [
    z.object({
      name: PresetName,
      preset_type: z.literal('indexation'),
      config: IndexationConfigBody.prefault({}),
    }),
    z.object({
      name: PresetName,
      preset_type: z.literal('retrieval'),
      config: RetrievalConfigBody.prefault({}),
    }),
  ])
  .meta({ id: 'NewPreset' });

export const PresetPatch = z
  .object({
    name: PresetName.optional(),
    config: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Takes the place of the whole config' }),
  })
  .meta({ id: 'PresetPatch' });

export const PresetBody = z
  .object({
    name: z.string(),
    preset_type: PresetTypeName,
    config: z.record(z.string(), z.unknown()),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    used_by_partitions: z.int(),
  })
  .meta({ id: 'Preset' });

export const PresetList = z.array(PresetBody);

export const PresetOptions = z.object({
  chunking_strategies: z.array(z.string()),
  parsing_strategies: z.array(z.string()),
  retrieval_types: z.array(z.string()),
  reranker_providers: z.array(z.string()),
  default_top_n: z.int(),
});
