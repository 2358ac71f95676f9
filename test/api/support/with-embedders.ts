import type { RouteAdapters } from '../../../activities/ports/adapters.js';
import type { ModelEndpoint } from '../../../schemas/models/model-endpoints.js';

function recordOf(name: string, vector_field: string | null): ModelEndpoint & { is_default: boolean } {
  return {
    name,
    model_type: 'embedder',
    endpoint: 'builtin:',
    model_name: 'builtin/hash-1024',
    vector_field,
    batch_size: 8,
    timeout: 30,
    dimension: 1024,
    context_tokens: null,
    provider: 'builtin',
    sealed_api_key: null,
    text_form: null,
    probed_at: null,
    extra: {},
    created_at: new Date(),
    updated_at: new Date(),
    is_default: false,
  };
}

/** More embedders, known by their records alone: names and vector fields. */
export function withEmbedders(fields: Readonly<Record<string, string | null>>) {
  return (adapters: RouteAdapters): RouteAdapters => ({
    ...adapters,
    models: {
      ...adapters.models,
      list: async (type) => [
        ...(await adapters.models.list(type)),
        ...(type === 'embedder' || type === undefined
          ? Object.entries(fields).map(([name, field]) => recordOf(name, field))
          : []),
      ],
    },
  });
}
