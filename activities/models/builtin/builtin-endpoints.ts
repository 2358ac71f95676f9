import type { ModelEndpoint } from '../../../schemas/models/model-endpoints.js';
import { EXTRACTIVE_MODEL_NAME } from './extractive-model.js';
import { HASH_MODEL_NAME } from './hash-embedder.js';
import { HASH_DIMENSION } from './hash-vector.js';

/** What `endpoint` reads for a model inside this process instead of a URL. */
export const BUILTIN_ENDPOINT = 'builtin:';

const registered = new Date();

/** The model endpoints that are there without any configuration (wire contract, section 2). */
export const BUILTIN_ENDPOINTS: readonly ModelEndpoint[] = [
  {
    name: 'builtin-hash',
    model_type: 'embedder',
    endpoint: BUILTIN_ENDPOINT,
    provider: 'builtin',
    sealed_api_key: null,
    model_name: HASH_MODEL_NAME,
    batch_size: 64,
    timeout: 120,
    extra: {},
    vector_field: 'vector_builtin_hash',
    dimension: HASH_DIMENSION,
    context_tokens: null,
    text_form: null,
    probed_at: null,
    seeded: true,
    created_at: registered,
    updated_at: registered,
  },
  {
    name: 'builtin-extractive',
    model_type: 'llm',
    endpoint: BUILTIN_ENDPOINT,
    provider: 'builtin',
    sealed_api_key: null,
    model_name: EXTRACTIVE_MODEL_NAME,
    batch_size: 1,
    timeout: 120,
    extra: {},
    vector_field: null,
    dimension: null,
    // Unknown, so that the service's own limit (MAX_LLM_CONTEXT_SIZE) is the one that counts.
    context_tokens: null,
    text_form: null,
    probed_at: null,
    seeded: true,
    created_at: registered,
    updated_at: registered,
  },
];

/** Whether a model is one of those inside this process: they know words, not meanings. */
export function isBuiltin({ modelName }: { modelName: string }): boolean {
  return modelName.startsWith('builtin/');
}
