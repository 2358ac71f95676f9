import type { ModelServers } from '../../activities/ports/model-administration.js';
import type { ModelEndpoint, ModelType } from '../../schemas/models/model-endpoints.js';
import { MODEL_PROVIDERS, RERANKER_PROVIDERS } from '../../schemas/models/model-endpoints.js';
import { vectorFieldOf } from '../../schemas/models/endpoint-names.js';
import type { ModelEndpointPatch, NewModelEndpoint } from '../../schemas/models/model-endpoints-api.js';
import { invalidRequest } from '../../schemas/request-issues.js';
import { sealedKeyAfter, withUnchangedSecrets } from './endpoint-key.js';
import { laterThan } from './follow-rename.js';

/**
 * The dialect that `extra.provider` names; null: to be found out, of rerankers the usual one.
 * @throws AppError VALIDATION_ERROR for an unknown provider
 */
export function providerOf(type: ModelType, { provider }: { provider?: unknown }): ModelEndpoint['provider'] {
  if (provider == null || provider === '') return null;
  const known: readonly string[] = type === 'reranker' ? RERANKER_PROVIDERS : MODEL_PROVIDERS;
  if (typeof provider !== 'string' || !known.includes(provider))
    throw invalidRequest([
      {
        type: 'provider',
        loc: ['body', 'extra', 'provider'],
        input: provider,
        msg: `must be one of ${known.join(', ')}`,
      },
    ]);
  return provider as ModelEndpoint['provider'];
}

/** Everything but the key: that one is stored sealed, beside it. */
function withoutKey({ api_key: _, ...extra }: Record<string, unknown>): Record<string, unknown> {
  return extra;
}

/** @throws AppError VALIDATION_ERROR */
export function newEndpointRecord(servers: ModelServers, body: NewModelEndpoint): ModelEndpoint {
  const { name, model_type: type, endpoint, batch_size, timeout, extra } = body;
  const model_name = body.model_name ?? '';
  const now = new Date();
  return {
    name,
    model_type: type,
    endpoint,
    model_name,
    batch_size,
    timeout,
    provider: providerOf(type, extra),
    extra: withUnchangedSecrets(withoutKey(extra), {}),
    sealed_api_key: sealedKeyAfter(servers, { name, model_type: type, endpoint }, { before: null, extra }),
    vector_field: type === 'embedder' ? vectorFieldOf(name, model_name) : null,
    dimension: null,
    context_tokens: null,
    text_form: null,
    probed_at: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * The record as it is after an edit. Another server or dialect is asked anew; another model gets a vector field of
 * its own, since vectors of two models do not compare. A new name keeps the field, and so the vectors.
 * @throws AppError VALIDATION_ERROR
 */
export function editedEndpointRecord(
  servers: ModelServers,
  before: ModelEndpoint,
  patch: ModelEndpointPatch,
): ModelEndpoint {
  const { model_type: type } = before;
  const name = patch.name ?? before.name;
  const endpoint = patch.endpoint ?? before.endpoint;
  const model_name = patch.model_name ?? before.model_name;
  const extra =
    patch.extra === undefined ? before.extra : withUnchangedSecrets(withoutKey(patch.extra), before.extra);
  const wanted = providerOf(type, extra);
  const sameModel = model_name === before.model_name;
  const sameServer = endpoint === before.endpoint && wanted === providerOf(type, before.extra);
  const { renamed_from: _, ...rest } = before;
  return {
    ...rest,
    name,
    endpoint,
    model_name,
    extra,
    batch_size: patch.batch_size ?? before.batch_size,
    timeout: patch.timeout ?? before.timeout,
    sealed_api_key: sealedKeyAfter(
      servers,
      { name, model_type: type, endpoint },
      { before, extra: patch.extra },
    ),
    ...(!(sameServer && sameModel) && {
      provider: wanted,
      context_tokens: null,
      text_form: null,
      probed_at: null,
    }),
    ...(!sameModel && {
      dimension: null,
      vector_field: type === 'embedder' ? vectorFieldOf(name, model_name) : null,
    }),
    updated_at: laterThan(before.updated_at),
  };
}
