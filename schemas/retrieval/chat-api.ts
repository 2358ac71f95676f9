import { z } from 'zod';
import { boundedRecord } from '../bounded-record.js';
import { Link, OpenMetadata } from '../documents/documents-api.js';

/** Bodies of the surface that speaks the OpenAI format (wire contract, section 1.9). */

export const ModelEntry = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .meta({ id: 'Model' });

export const ModelList = z
  .object({ object: z.literal('list'), data: z.array(ModelEntry) })
  .meta({ id: 'ModelList' });

const flag = z.boolean().nullish();

/** A form sends an empty text for what is not set, as searches take it. */
function textOrNone(longest: number) {
  return z
    .string()
    .max(longest)
    .nullish()
    .transform((text) => (text === '' ? undefined : text));
}

/** What a request asks for beside the OpenAI format; unknown keys are left. */
export const ChatMetadata = z
  .looseObject({
    spoken_style_answer: flag.meta({ description: 'A short answer to be read aloud' }),
    use_map_reduce: flag.meta({ description: 'Each extract is evaluated and summed up by the model first' }),
    websearch: flag.meta({ description: 'Adds results of a web search' }),
    llm_override: z
      .object({
        model: textOrNone(200),
        base_url: textOrNone(2000),
        api_key: textOrNone(2000),
      })
      .nullish(),
    workspace: textOrNone(255),
    file_id: textOrNone(255).meta({ description: 'Only this file of the partition is searched' }),
    preset: textOrNone(255).meta({
      description: "Searched as this retrieval preset says, instead of the partition's",
    }),
    attachments: z
      .array(z.looseObject({ id: z.string().min(1).max(255) }))
      .max(20)
      .nullish()
      .meta({ description: 'Files of the partition, by id, to be put into the context' }),
    require_retrieval: flag,
    require_verified: z
      .union([z.boolean(), z.enum(['drop', 'mark'])])
      .nullish()
      .meta({
        description:
          'Sentences that their sources do not support are left out (`true`, `drop`) or marked `[unverified]` (`mark`); ' +
          'the answer comes sentence by sentence. Needs a partition as the model',
      }),
    include_all_retrieved_sources: flag,
    include_retrieval_trace: flag.meta({ description: 'Administrators only, as what follows' }),
    compare_original_query: flag,
    bypass_query_contextualization: flag,
    retrieval_similarity_threshold: z.number().min(0).max(1).nullish(),
    retrieval_top_k: z.int().min(1).max(1000).nullish(),
    retrieval_disable_reranker: flag,
    retrieval_disable_expansion: flag,
  })
  .meta({ id: 'ChatMetadata' });
export type ChatMetadata = z.infer<typeof ChatMetadata>;

const TextPart = z.object({ type: z.literal('text'), text: z.string() });

/** A picture, a recording, a file. */
const OtherPart = z.looseObject({
  type: z
    .string()
    .max(100)
    .refine((type) => type !== 'text'),
});

/** More than any client sends: what reads a request takes time with each of them. */
const LIMITS = { messages: 10_000, parts: 10_000, tools: 1_000, biases: 1_000, prompts: 2_048 };

/** Texts of a message: plain, or the parts of type `text` that newer chat clients send. */
const MessageContent = z
  .union([z.string(), z.array(z.union([TextPart, OtherPart])).max(LIMITS.parts), z.null()])
  .meta({
    description:
      'Parts of other types than `text` are left out before the last question, and refused from it on',
  });

/** Read by us; whatever else is sent is the model server's to understand. */
const sampling = {
  model: z
    .string()
    .nullish()
    .meta({
      description:
        'A partition behind `rag-`, or `partition-all` for all of the caller; left out, empty or the name of the default language ' +
        'model: that model alone, without a search',
      examples: ['rag-manuals', 'partition-all'],
    }),
  temperature: z.number().min(0).max(2).nullish().meta({ description: '0.3 when absent' }),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
  seed: z.int().nullish(),
  n: z.int().nullish().meta({ description: '1, or it is refused' }),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: boundedRecord(z.number(), LIMITS.biases).nullish(),
  metadata: ChatMetadata.nullish(),
};

export const ChatRequest = z
  .looseObject({
    ...sampling,
    messages: z
      .array(
        z.looseObject({
          role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
          content: MessageContent.optional(),
        }),
      )
      .max(LIMITS.messages),
    stream: flag,
    stream_options: z.looseObject({ include_usage: flag }).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    logprobs: z.union([z.boolean(), z.int().min(0).max(20)]).nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    tools: z
      .array(z.looseObject({ type: z.string() }))
      .max(LIMITS.tools)
      .nullish(),
    tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
    response_format: z
      .looseObject({ type: z.string() })
      .nullish()
      .meta({ description: 'Handed on; switches citations off' }),
  })
  .meta({ id: 'ChatRequest' });
export type ChatRequest = z.infer<typeof ChatRequest>;

export const CompletionRequest = z
  .looseObject({
    ...sampling,
    prompt: z
      .union([z.string(), z.array(z.unknown()).max(LIMITS.prompts)])
      .nullish()
      .meta({ description: 'Required: one text, or a list of one text' }),
    best_of: z.int().nullish().meta({ description: '1, or it is refused' }),
    echo: flag,
    logprobs: z.int().min(0).max(20).nullish(),
    stream: flag.meta({ description: 'Not supported here' }),
    suffix: z.string().nullish().meta({ description: 'Not supported' }),
  })
  .meta({ id: 'CompletionRequest' });
export type CompletionRequest = z.infer<typeof CompletionRequest>;

const SourceEntry = z
  .looseObject({
    source_type: z.enum(['document', 'web']),
    chunk: OpenMetadata.optional(),
    chunk_url: Link.optional(),
    file_url: Link.optional(),
    rerank_score: z.number().optional(),
    quote: z
      .string()
      .optional()
      .meta({ description: 'On a cited document: what of the extract supports the answer' }),
    char_start: z.int().optional().meta({ description: 'Of the quote, in Unicode code points' }),
    char_end: z.int().optional(),
    verified: z
      .boolean()
      .optional()
      .meta({ description: "Whether the quote holds the answer's words and all of its numbers" }),
    url: z.string().optional(),
    title: z.string().optional(),
    snippet: z.string().optional(),
  })
  .meta({ id: 'SourceEntry' });

const CheckedSentence = z
  .object({
    text: z.string(),
    cited: z.array(z.int()).meta({ description: 'The numbers of the sources that it names' }),
    supported: z
      .boolean()
      .nullable()
      .meta({
        description:
          'Whether a source that it names (any of them, where it names none) supports it, as far as words tell: its ' +
          'words, numbers, names, denials, and who does what to whom; null: it claims nothing that could be checked',
      }),
    fault: z
      .enum(['words', 'number', 'name', 'negation', 'roles', 'unchecked'])
      .optional()
      .meta({
        description:
          'Why not; `unchecked`: the answer is too long to check it all, or the sentence is neither in ' +
          'English nor in French and does not stand in its sources as it is',
      }),
    withheld: z.boolean().meta({ description: 'Left out of the answer (`require_verified`)' }),
  })
  .meta({ id: 'CheckedSentence' });

export const ChatExtra = z
  .looseObject({
    sources: z.array(SourceEntry),
    presented_sources: z.array(SourceEntry),
    cited_sources: z.array(SourceEntry),
    citations_reported: z.boolean(),
    refused: z
      .boolean()
      .meta({ description: 'The answer says that the sources do not hold what was asked (English, French)' }),
    sentences: z.array(CheckedSentence).optional(),
    all_retrieved_sources: z.array(SourceEntry).optional(),
    searched: z
      .array(z.string())
      .optional()
      .meta({ description: 'What was searched for: the question, and what a model wrote of it' }),
    attachments: z
      .array(z.object({ id: z.string(), partition: z.string(), filename: z.string() }))
      .optional(),
    retrieval_trace: z.record(z.string(), z.unknown()).optional(),
    degraded: z.array(z.string()).optional().meta({ description: 'Steps that failed and were left out' }),
    truncated: z.boolean().optional(),
    links_removed: z.int().optional().meta({
      description: 'Addresses left out of the answer, since neither a source nor the conversation holds them',
    }),
  })
  .meta({ id: 'ChatExtra' });
export type ChatExtra = z.infer<typeof ChatExtra>;

const Usage = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .meta({ id: 'Usage' });

const Logprobs = z.object({ content: z.array(z.looseObject({ token: z.string() })) }).nullable();

export const ChatAnswer = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
        logprobs: Logprobs,
        finish_reason: z.string(),
      }),
    ),
    usage: Usage,
    extra: ChatExtra,
  })
  .meta({ id: 'ChatAnswer' });

export const CompletionAnswer = z
  .object({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        text: z.string(),
        logprobs: z
          .object({
            tokens: z.array(z.string()),
            token_logprobs: z.array(z.number().nullable()),
            top_logprobs: z.array(z.record(z.string(), z.number()).nullable()),
            text_offset: z.array(z.int()),
          })
          .nullable(),
        finish_reason: z.string(),
      }),
    ),
    usage: Usage,
    extra: ChatExtra,
  })
  .meta({ id: 'CompletionAnswer' });

/** Bounds of one request for embeddings: as many texts as the OpenAI format allows, and about a megabyte of them. */
const MAX_TEXTS = 2048;
const token = z.int().min(0).max(200_000);

export const EmbeddingRequest = z
  .looseObject({
    model: z
      .string()
      .nullish()
      .meta({ description: 'An embedder, by its name or its model; the default one' }),
    input: z
      .union([
        z.string(),
        z.array(z.string()).max(MAX_TEXTS),
        z.array(token).max(100_000),
        z.array(z.array(token).max(100_000)).max(MAX_TEXTS),
      ])
      .meta({
        description: 'Texts, or cl100k tokens of texts; 4,000,000 characters, or 1,000,000 tokens, in all',
      }),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().min(1).nullish().meta({ description: 'What the model has, or it is refused' }),
  })
  .meta({ id: 'EmbeddingRequest' });
export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>;

export const EmbeddingAnswer = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: 'EmbeddingAnswer' });
