import { z } from 'zod';
import { MODEL_TYPES, ONNX_ENDPOINT } from './model-endpoints.js';

/** Request and answer bodies of model endpoints (wire contract, section 1.10). */

export const ModelTypeName = z.enum(MODEL_TYPES);

const EndpointName = z
  .string()
  .min(1)
  .max(128)
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    'must be letters, digits, . _ -, alphanumeric at both ends',
  );

/** Shown to administrators and logged: a password in it would not be secret. */
const EndpointUrl = z
  .url({ protocol: /^https?$/, message: 'must be an http(s) URL' })
  .max(2048)
  .refine((text) => !/^[^:]+:\/\/[^/?#]*@/.test(text), 'must not hold a user or password: use extra.api_key')
  .refine((text) => !/[?#]/.test(text), 'must not hold a query or a fragment');

const EndpointAddress = z.union([EndpointUrl, z.literal(ONNX_ENDPOINT)]).meta({
  description:
    'URL of the server; `onnx:` for a reranker from the folder `MODELS_DIR`, whose `model_name` is its folder there',
});

/** Too deep or too long would be no settings any more. */
const MAX_EXTRA_CHARACTERS = 64 * 1024;

const Extra = z
  .looseObject({
    api_key: z.string().max(8192).nullish().meta({
      description:
        'Answered masked. The mask, `<redacted>` or no `api_key` at all keeps the stored one; "" and null remove it',
    }),
    provider: z.string().nullish().meta({
      description: 'openai, ollama; of rerankers infinity, tei, openai, onnx. Left out: by probing',
    }),
    max_llm_context_size: z.int().min(256).nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    similarity_threshold: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .meta({ description: 'Of embedders: the least cosine of hits where a search names none' }),
  })
  .refine((extra) => JSON.stringify(extra).length <= MAX_EXTRA_CHARACTERS, 'is too long');

/** None is `''` in records and answers; forms send it back so, or as null. */
const ModelName = z
  .string()
  .max(512)
  .nullish()
  .transform((name) => (name === null ? '' : name))
  .meta({ description: 'Left out, null and "" when the server serves one model' });

const fields = {
  endpoint: EndpointAddress,
  batch_size: z.int().min(1).max(10_000),
  timeout: z.number().positive().max(86_400).meta({ description: 'Seconds without a word' }),
};

export const NewModelEndpoint = z
  .object({
    name: EndpointName,
    model_type: ModelTypeName,
    endpoint: fields.endpoint,
    model_name: ModelName,
    batch_size: fields.batch_size.default(32),
    timeout: fields.timeout.default(30),
    extra: Extra.default({}),
    is_default: z.boolean().default(false),
  })
  .meta({ id: 'NewModelEndpoint' });
export type NewModelEndpoint = z.output<typeof NewModelEndpoint>;

export const ModelEndpointPatch = z
  .object({
    name: EndpointName.optional(),
    model_type: ModelTypeName.optional(),
    // Of a built-in model it reads `builtin:`, and comes back so.
    endpoint: z.union([EndpointAddress, z.literal('builtin:')]).optional(),
    model_name: ModelName,
    batch_size: fields.batch_size.optional(),
    timeout: fields.timeout.optional(),
    extra: Extra.optional(),
    is_default: z.boolean().optional(),
    acknowledge_indexed_data: z.boolean().default(false),
  })
  .meta({ id: 'ModelEndpointPatch' });
export type ModelEndpointPatch = z.output<typeof ModelEndpointPatch>;

export const ModelEndpointBody = z
  .object({
    name: z.string(),
    model_type: ModelTypeName,
    endpoint: z.string(),
    model_name: z.string(),
    batch_size: z.int(),
    timeout: z.number(),
    extra: z.record(z.string(), z.unknown()),
    has_api_key: z.boolean(),
    is_default: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    detected_max_llm_context_size: z.int().nullable().optional(),
    context_size_detection_pending: z.boolean().optional(),
    default_max_llm_context_size: z.int().optional(),
    default_max_output_tokens: z.int().optional(),
  })
  .meta({ id: 'ModelEndpoint' });
export type ModelEndpointBody = z.infer<typeof ModelEndpointBody>;

export const ModelEndpointList = z.array(ModelEndpointBody);

export const EndpointDraftBody = z
  .object({
    model_type: ModelTypeName.nullish().meta({ description: 'Left out: that of the stored key, else `llm`' }),
    endpoint: fields.endpoint,
    model_name: ModelName,
    api_key: z.string().max(8192).nullish(),
    provider: z.string().nullish(),
    timeout: fields.timeout.default(30),
    extra: Extra.default({}),
    stored_api_key_model_type: ModelTypeName.nullish(),
    stored_api_key_name: z.string().nullish(),
  })
  .refine(
    (draft) => (draft.stored_api_key_model_type == null) === (draft.stored_api_key_name == null),
    'stored_api_key_model_type and stored_api_key_name belong together',
  )
  .meta({ id: 'ModelEndpointDraft' });
export type EndpointDraftBody = z.output<typeof EndpointDraftBody>;

export const EndpointValidation = z
  .object({
    reachable: z.boolean(),
    model_found: z.boolean().nullable(),
    models_served: z.array(z.string()),
    transcription_supported: z.boolean().nullable(),
    detail: z.string().nullable(),
  })
  .meta({ id: 'EndpointValidation' });

export const RevealedKey = z.object({ api_key: z.string().nullable() });

export const IndexedUsage = z
  .object({
    name: z.string(),
    model_type: ModelTypeName,
    file_count: z.int(),
    partitions: z.array(z.object({ partition: z.string(), file_count: z.int() })),
  })
  .meta({ id: 'IndexedUsage' });
