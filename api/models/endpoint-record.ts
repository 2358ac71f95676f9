import type { ModelServers } from '../../activities/ports/model-administration.js';
import type { ModelEndpoint, ModelType } from '../../schemas/models/model-endpoints.js';
import {
  isModelFolderName,
  MODEL_PROVIDERS,
  ONNX_ENDPOINT,
  RERANKER_PROVIDERS,
} from '../../schemas/models/model-endpoints.js';
import { vectorFieldOf } from '../../schemas/models/endpoint-names.js';
import type { ModelEndpointPatch, NewModelEndpoint } from '../../schemas/models/model-endpoints-api.js';
import { invalidRequest } from '../../schemas/request-issues.js';
import { sealedKeyAfter, withUnchangedSecrets } from './endpoint-key.js';
import { laterThan } from './follow-rename.js';

/**
 * The dialect that `extra.provider` names; null: to be found out, of rerankers the usual one.
 * @throws AppError VALIDATION_ERROR for an unknown provider
 */
function providerOf(type: ModelType, { provider }: { provider?: unknown }): ModelEndpoint['provider'] {
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

function refused(field: string, input: unknown, msg: string): Error {
  return invalidRequest([{ type: field, loc: ['body', field], input, msg }]);
}

/**
 * The dialect of an endpoint: the address of a model without a server says it, and belongs to nothing else.
 * @throws AppError VALIDATION_ERROR
 */
export function providerAt(
  { model_type: type, endpoint }: Pick<ModelEndpoint, 'model_type' | 'endpoint'>,
  extra: { provider?: unknown },
): ModelEndpoint['provider'] {
  const provider = providerOf(type, extra);
  if (endpoint !== ONNX_ENDPOINT) {
    if (provider === 'onnx')
      throw refused('endpoint', endpoint, `must be ${ONNX_ENDPOINT} with this provider`);
    return provider;
  }
  if (type !== 'reranker') throw refused('endpoint', endpoint, `${ONNX_ENDPOINT} is for rerankers alone`);
  if (provider !== null && provider !== 'onnx')
    throw refused('endpoint', endpoint, `${ONNX_ENDPOINT} is not for the provider ${provider}`);
  return 'onnx';
}

/** The name is that of a folder, and must not lead elsewhere. @throws AppError VALIDATION_ERROR */
function requireModelFolder(provider: ModelEndpoint['provider'], name: string): void {
  if (provider === 'onnx' && !isModelFolderName(name))
    throw refused('model_name', name, 'must be the name of one folder in MODELS_DIR: letters, digits, . _ -');
}

/** Everything but the key: that one is stored sealed, beside it. */
function withoutKey({ api_key: _, ...extra }: Record<string, unknown>): Record<string, unknown> {
  return extra;
}

/** @throws AppError VALIDATION_ERROR */
export function newEndpointRecord(servers: ModelServers, body: NewModelEndpoint): ModelEndpoint {
  const { name, model_type: type, endpoint, batch_size, timeout, extra } = body;
  const model_name = body.model_name ?? '';
  const provider = providerAt(body, extra);
  requireModelFolder(provider, model_name);
  const now = new Date();
  return {
    name,
    model_type: type,
    endpoint,
    model_name,
    batch_size,
    timeout,
    provider,
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
  const wanted = providerAt({ model_type: type, endpoint }, extra);
  requireModelFolder(wanted, model_name);
  const sameModel = model_name === before.model_name;
  const sameServer = endpoint === before.endpoint && wanted === providerAt(before, before.extra);
  const { renamed_from: _, seeded: __, ...rest } = before;
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
