import { z } from 'zod';
import { currentIndexationConfig } from './presets.js';
import type { IndexationConfig, RetrievalConfig } from './presets.js';
import { SettingName } from './setting-name.js';

/** Presets: what they may hold, and request and answer bodies (wire contract, section 1.10). */

export const CHUNKING_STRATEGIES = ['recursive_splitter', 'structured_section'] as const;
/** The exact set that clients know; each format here has one parser, which serves them all. */
export const PARSING_STRATEGIES = ['pymupdf', 'marker', 'docling'] as const;
export const RETRIEVAL_TYPES = ['single', 'multiQuery', 'hyde'] as const;

export const PRESET_TYPES = ['indexation', 'retrieval'] as const;
export const PresetTypeName = z.enum(PRESET_TYPES);

export const MAX_CHUNK_SIZE = 32_768;
export const MAX_RESULTS = 1000;

/** The name of another record; nothing written in it means none. */
const name = z
  .string()
  .max(255)
  .nullable()
  .default(null)
  .transform((text) => (text === '' ? null : text));

/** The same, where it matters whether it was written at all. */
const givenName = z
  .string()
  .max(255)
  .nullish()
  .transform((text) => (text === '' ? null : text));

function earlierName(now: string) {
  return givenName.meta({ deprecated: true, description: `Earlier spelling of ${now}` });
}

const ChunkingBody = z.looseObject({
  name: z.enum(CHUNKING_STRATEGIES).default('recursive_splitter'),
  chunk_size: z.int().min(16).max(MAX_CHUNK_SIZE).default(512),
  chunk_overlap_rate: z.number().min(0).lt(1).default(0.2),
});

const NO_EFFECT = { description: 'Kept; has no effect' };

const UNKNOWN_KEYS = 'Unknown keys are ignored; the answer names them under `warnings`';

/** How documents are indexed. */
export const IndexationConfigBody = z
  .looseObject({
    chunking: ChunkingBody.prefault({}),
    parsing_strategy: z.enum(PARSING_STRATEGIES).nullable().default(null).meta(NO_EFFECT),
    ocr_languages: z
      .string()
      .max(200)
      .regex(/^([a-z]{3}(_[a-z]+)*(\+[a-z]{3}(_[a-z]+)*)*)?$/i, {
        error: "must be Tesseract's codes of languages with `+` between them",
      })
      .nullable()
      .default(null)
      .transform((text) => (text === '' ? null : text))
      .meta({ description: 'Languages of OCR by Tesseract’s codes, `deu+eng` say; null: OCR_LANGUAGES' }),
    attachments_as_files: z
      .boolean()
      .default(false)
      .meta({
        description:
          'Each attachment of a mail is a file of its own: `parent_id` names the mail, `relationship_id` is the ' +
          "mail's, its metadata too; it counts against the uploader's quota and goes with the mail. False: attachments are sections of their mail",
      }),
    stt: name,
    asr_transcription_prompt_name: name,
    vlm: name,
    enable_image_captioning: z.boolean().default(false),
    image_captioning_prompt_name: name,
    enable_contextualization: z.boolean().default(false),
    contextualization_llm: name,
    contextualization_mode: z
      .enum(['none', 'simple', 'structured'])
      .optional()
      .meta({ description: 'Left out or `none` where contextualisation is enabled: `simple`' }),
    contextualization_prompt_name: givenName,
    chunk_contextualizer_prompt_name: earlierName('contextualization_prompt_name'),
    enable_metadata_extraction: z.boolean().default(false).meta(NO_EFFECT),
    enable_entity_extraction: z.boolean().default(false).meta(NO_EFFECT),
    entity_labels: z.array(z.string().max(100)).max(100).default([]).meta(NO_EFFECT),
    enable_topic_tagging: z.boolean().default(false),
    max_topic_tags: z.int().min(1).max(50).default(7),
    topic_tagging_llm: name.meta({ description: 'Null: the model that contextualises' }),
    topic_tagging_prompt_name: givenName,
    topic_tagger_prompt_name: earlierName('topic_tagging_prompt_name'),
  })
  .meta({ description: UNKNOWN_KEYS });

/** How questions are answered. */
export const RetrievalConfigBody = z
  .looseObject({
    type: z.enum(RETRIEVAL_TYPES).default('single'),
    reranker: name,
    llm: name,
    top_k: z.int().min(1).max(MAX_RESULTS).default(50),
    top_n: z.int().min(1).max(MAX_RESULTS).nullable().default(null),
    enable_reranker: z.boolean().default(false),
    similarity_threshold: z.number().min(0).max(1).nullable().default(null),
    vector_weight: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .default(null)
      .meta({
        description:
          'Share of the vectors in a fused score: 0 ranks by words alone, 1 by vectors alone. Null: by what the embedder ' +
          "was measured to understand of the question's language",
      }),
    include_related: z.boolean().default(true),
    include_ancestors: z.boolean().default(true),
    rrf_k: z.int().min(1).max(10_000).default(60),
    hyde_prompt_name: name,
    multi_query_prompt_name: name,
    query_contextualizer_prompt_name: name,
  })
  .meta({ description: UNKNOWN_KEYS });

/** A config as it is kept, and what of the one that was sent has no effect. */
export interface ReadConfig<Config> {
  config: Config;
  warnings: string[];
}

const MAX_WARNINGS = 50;
const MAX_NAME_SHOWN = 100;

/** Keeps the members that a schema names, and says which others there were. */
function takeKnown<Known extends object>(
  given: Known,
  shape: Readonly<Record<string, unknown>>,
  place: string,
): { known: Known; warnings: string[] } {
  const isKnown = (key: string): boolean => Object.hasOwn(shape, key);
  const entries = Object.entries(given);
  return {
    known: Object.fromEntries(entries.filter(([key]) => isKnown(key))) as Known,
    warnings: entries
      .filter(([key]) => !isKnown(key))
      .map(([key]) => `${place}.${key.slice(0, MAX_NAME_SHOWN)} is not known and is ignored`),
  };
}

function atMost(warnings: string[]): string[] {
  const more = warnings.length - MAX_WARNINGS;
  return more > 0 ? [...warnings.slice(0, MAX_WARNINGS), `and ${more} more`] : warnings;
}

/** Of two spellings of one setting the earlier one is ignored. */
function twiceNamed(given: Readonly<Record<string, unknown>>, earlier: string, now: string): string[] {
  if (given[earlier] === undefined || given[now] === undefined || given[earlier] === given[now]) return [];
  return [`config.${earlier} is ignored: config.${now} is given`];
}

export function readIndexationConfig(
  body: z.output<typeof IndexationConfigBody>,
): ReadConfig<IndexationConfig> {
  const outer = takeKnown(body, IndexationConfigBody.shape, 'config');
  const inner = takeKnown(body.chunking, ChunkingBody.shape, 'config.chunking');
  const { contextualization_mode: mode = 'none' } = body;
  const isModeless = body.enable_contextualization && body.contextualization_mode === 'none';
  return {
    config: currentIndexationConfig({
      ...outer.known,
      chunking: inner.known,
      contextualization_mode: mode,
    }),
    warnings: atMost([
      ...outer.warnings,
      ...inner.warnings,
      ...twiceNamed(body, 'chunk_contextualizer_prompt_name', 'contextualization_prompt_name'),
      ...twiceNamed(body, 'topic_tagger_prompt_name', 'topic_tagging_prompt_name'),
      ...(isModeless
        ? ["config.contextualization_mode is 'simple' and not 'none': contextualization is enabled"]
        : []),
    ]),
  };
}

export function readRetrievalConfig(body: z.output<typeof RetrievalConfigBody>): ReadConfig<RetrievalConfig> {
  const { known, warnings } = takeKnown(body, RetrievalConfigBody.shape, 'config');
  return { config: known, warnings: atMost(warnings) };
}

export const NewPreset = z
  .discriminatedUnion('preset_type', [
    z.object({
      name: SettingName,
      preset_type: z.literal('indexation'),
      config: IndexationConfigBody.prefault({}),
    }),
    z.object({
      name: SettingName,
      preset_type: z.literal('retrieval'),
      config: RetrievalConfigBody.prefault({}),
    }),
  ])
  .meta({ id: 'NewPreset' });

export const PresetPatch = z
  .object({
    name: SettingName.optional(),
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
    warnings: z.array(z.string()).optional().meta({
      description:
        'After a change: what of the config that was sent is not known or is taken for something else',
    }),
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
