import type { ModelServers } from '../../activities/ports/model-administration.js';
import type { Config } from '../../schemas/config/config.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import type { ModelEndpointBody } from '../../schemas/models/model-endpoints-api.js';
import { maskOf } from './endpoint-key.js';

/** A model endpoint for an administrator's eyes: the key masked; of language models, what is known of their window. */
export function presentModelEndpoint(
  endpoint: ModelEndpoint,
  context: { servers: ModelServers; isDefault: boolean; settings: Config['chat'] },
): ModelEndpointBody {
  const { name, model_type, model_name, batch_size, timeout, extra, provider } = endpoint;
  const mask = endpoint.sealed_api_key === null ? null : maskOf(context.servers, endpoint);
  return {
    name,
    model_type,
    endpoint: endpoint.endpoint,
    model_name,
    batch_size,
    timeout,
    extra: { ...extra, ...(mask === null ? {} : { api_key: mask }) },
    has_api_key: mask !== null,
    is_default: context.isDefault,
    created_at: endpoint.created_at.toISOString(),
    updated_at: endpoint.updated_at.toISOString(),
    ...(model_type === 'llm' && {
      detected_max_llm_context_size: endpoint.context_tokens,
      context_size_detection_pending: provider !== 'builtin' && endpoint.probed_at === null,
      default_max_llm_context_size: context.settings.contextTokens,
      default_max_output_tokens: context.settings.maxOutputTokens,
    }),
  };
}
