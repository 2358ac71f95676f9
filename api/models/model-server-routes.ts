import type { z } from 'zod';
import type { EndpointDraft, EndpointInspection } from '../../activities/ports/model-administration.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import {
  EndpointDraftBody,
  EndpointValidation,
  IndexedUsage,
  RevealedKey,
} from '../../schemas/models/model-endpoints-api.js';
import { notRegistered } from '../../schemas/models/not-registered.js';
import { keyOfDraft } from './endpoint-key.js';
import { providerAt } from './endpoint-record.js';
import { requireEndpoint } from './update-model-endpoint.js';
import { json, route } from '../http/route.js';
import type { Route } from '../http/route.js';
import { badRequest } from '../../schemas/request-issues.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { EndpointParams } from './model-endpoint-routes.js';

const ONE = '/model-endpoints/{type}/{name}';

function validation(inspection: EndpointInspection): z.input<typeof EndpointValidation> {
  return {
    reachable: inspection.reachable,
    model_found: inspection.modelFound,
    models_served: inspection.modelsServed,
    transcription_supported: inspection.transcriptionSupported,
    detail: inspection.detail,
  };
}

/** A slash at the end means nothing. */
function sameAddress(one: string, other: string): boolean {
  return one.replace(/(?<!\/)\/+$/, '') === other.replace(/(?<!\/)\/+$/, '');
}

/**
 * Asking the servers behind model endpoints, before they are registered and after. Any address may be asked, also one
 * of a private network: see `inspect-endpoint.ts`.
 */
export function modelServerRoutes({ adapters }: GatewayDeps): Route[] {
  const { files, modelServers: servers } = adapters;

  const storedDraft = (stored: ModelEndpoint): EndpointDraft => ({
    ...stored,
    apiKey: servers.openKey(stored),
  });

  const givenDraft = async (body: EndpointDraftBody): Promise<EndpointDraft> => {
    const { stored_api_key_model_type: type, stored_api_key_name: name } = body;
    // Earlier pages of the 2.3 line do not say it.
    const modelType = body.model_type ?? type ?? 'llm';
    const extra = { ...body.extra, ...(body.provider == null ? {} : { provider: body.provider }) };
    const draft = {
      model_type: modelType,
      endpoint: body.endpoint,
      model_name: body.model_name ?? '',
      extra,
      timeout: body.timeout,
      provider: providerAt({ model_type: modelType, endpoint: body.endpoint }, extra),
    };
    if (type == null || name == null)
      return { ...draft, apiKey: keyOfDraft(body.api_key ?? body.extra.api_key) };
    const stored = await adapters.endpoints.get(type, name);
    if (stored === null) throw notRegistered(type, name);
    // A stored key is sent to its own server only.
    if (!sameAddress(stored.endpoint, body.endpoint))
      throw badRequest(`The stored key of '${name}' belongs to another address; give the key itself.`);
    return { ...draft, apiKey: servers.openKey(stored) };
  };

  return [
    route({
      method: 'post',
      path: '/model-endpoints/validate',
      summary: 'Ask a server that is not registered yet',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { body: EndpointDraftBody },
      responses: { 200: { description: 'What the server told', schema: EndpointValidation } },
      errors: ['BAD_REQUEST', 'MODEL_ENDPOINT_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ signal }, { body }) {
        return json(200, validation(await servers.inspect(await givenDraft(body), signal)));
      },
    }),
    route({
      method: 'post',
      path: `${ONE}/validate`,
      summary: 'Ask the server of a registered endpoint',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { params: EndpointParams },
      responses: { 200: { description: 'What the server told', schema: EndpointValidation } },
      errors: ['NOT_FOUND', 'CONFIG_ERROR', 'VALIDATION_ERROR'],
      async handle({ signal, log }, { params }) {
        const stored = await requireEndpoint(adapters, params.type, params.name);
        const inspection = await servers.inspect(storedDraft(stored), signal);
        if (inspection.reachable && stored.probed_at === null && stored.provider !== 'builtin')
          servers
            .probe(stored)
            .catch((error: unknown) => log.debug({ err: error }, 'the endpoint could not be asked yet'));
        return json(200, validation(inspection));
      },
    }),
    route({
      method: 'post',
      path: `${ONE}/reveal-api-key`,
      summary: 'The stored key, unmasked',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { params: EndpointParams },
      responses: { 200: { description: 'Null: there is none', schema: RevealedKey } },
      errors: ['NOT_FOUND', 'CONFIG_ERROR', 'VALIDATION_ERROR'],
      async handle({ log, principal }, { params }) {
        const stored = await requireEndpoint(adapters, params.type, params.name);
        log.info({ userId: principal.userId, endpoint: stored.name }, 'a stored key was revealed');
        return {
          ...json(200, { api_key: servers.openKey(stored) }),
          headers: { 'Cache-Control': 'no-store' },
        };
      },
    }),
    route({
      method: 'get',
      path: `${ONE}/indexed-usage`,
      summary: 'Which partitions hold vectors of it',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { params: EndpointParams },
      responses: { 200: { description: 'Files by partition', schema: IndexedUsage } },
      errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params: { type, name } }) {
        await requireEndpoint(adapters, type, name);
        const counts = type === 'embedder' ? await files.countByEmbedder(name) : new Map<string, number>();
        const partitions = [...counts]
          .map(([partition, file_count]) => ({ partition, file_count }))
          .sort((a, b) => (a.partition < b.partition ? -1 : 1));
        const total = partitions.reduce((sum, { file_count }) => sum + file_count, 0);
        return json(200, { name, model_type: type, file_count: total, partitions });
      },
    }),
  ];
}
