import { z } from 'zod';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import {
  ModelEndpointBody,
  ModelEndpointList,
  ModelEndpointPatch,
  ModelTypeName,
  NewModelEndpoint,
} from '../../schemas/models/model-endpoints-api.js';
import { deleteModelEndpoint } from './delete-model-endpoint.js';
import { newEndpointRecord } from './endpoint-record.js';
import { requireEndpoint, updateModelEndpoint } from './update-model-endpoint.js';
import type { Logger } from '../logger.js';
import { empty, json, route } from '../http/route.js';
import type { Route } from '../http/route.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { presentModelEndpoint } from './present-model-endpoint.js';

const ONE = '/model-endpoints/{type}/{name}';

export const EndpointParams = z.object({ type: ModelTypeName, name: z.string() });

/** Registered model servers (wire contract, section 1.10). What asks the servers is in `model-server-routes.ts`. */
export function modelEndpointRoutes({ adapters, config }: GatewayDeps): Route[] {
  const { endpoints, modelServers: servers } = adapters;

  const present = async (endpoint: ModelEndpoint) => {
    const isDefault = (await endpoints.defaults())[endpoint.model_type] === endpoint.name;
    return presentModelEndpoint(endpoint, { servers, isDefault, settings: config.chat });
  };

  /** In the background: what the server tells of the model is in the record once it has answered. */
  const probe = (endpoint: ModelEndpoint, log: Logger): void => {
    if (endpoint.provider === 'builtin' || endpoint.probed_at !== null) return;
    servers
      .probe(endpoint)
      .catch((error: unknown) =>
        log.warn({ err: error, endpoint: endpoint.name }, 'a model endpoint could not be asked yet'),
      );
  };

  return [
    route({
      method: 'get',
      path: '/model-endpoints/',
      summary: 'Registered model endpoints',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { query: z.object({ model_type: ModelTypeName.optional() }) },
      responses: { 200: { description: 'By type and name', schema: ModelEndpointList } },
      errors: ['VALIDATION_ERROR'],
      async handle(_ctx, { query }) {
        const [found, defaults] = await Promise.all([endpoints.list(query.model_type), endpoints.defaults()]);
        const context = { servers, settings: config.chat };
        return json(
          200,
          found.map((endpoint) =>
            presentModelEndpoint(endpoint, {
              ...context,
              isDefault: defaults[endpoint.model_type] === endpoint.name,
            }),
          ),
        );
      },
    }),
    route({
      method: 'post',
      path: '/model-endpoints/',
      summary: 'Register a model endpoint',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { body: NewModelEndpoint },
      responses: { 201: { description: 'The endpoint', schema: ModelEndpointBody } },
      errors: ['MODEL_ENDPOINT_EXISTS', 'VALIDATION_ERROR'],
      async handle({ log }, { body }) {
        const created = await endpoints.create(newEndpointRecord(servers, body));
        if (body.is_default) await endpoints.setDefault(body.model_type, body.name);
        probe(created, log);
        return json(201, await present(created));
      },
    }),
    route({
      method: 'get',
      path: ONE,
      summary: 'A model endpoint',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { params: EndpointParams },
      responses: { 200: { description: 'The endpoint', schema: ModelEndpointBody } },
      errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params }) {
        return json(200, await present(await requireEndpoint(adapters, params.type, params.name)));
      },
    }),
    route({
      method: 'put',
      path: ONE,
      summary: 'Change a model endpoint; what names it follows a new name',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { params: EndpointParams, body: ModelEndpointPatch },
      responses: { 200: { description: 'The endpoint', schema: ModelEndpointBody } },
      errors: [
        'NOT_FOUND',
        'EMBEDDER_EDIT_AFFECTS_INDEXED_DATA',
        'MODEL_ENDPOINT_EXISTS',
        'INDEXING_IN_PROGRESS',
        'EMBEDDER_SWAP_IN_PROGRESS',
        'CONFLICT',
        'VALIDATION_ERROR',
      ],
      async handle({ log }, { params, body }) {
        const changed = await updateModelEndpoint(adapters, params, body);
        probe(changed, log);
        return json(200, await present(changed));
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      summary: 'Delete a model endpoint that nothing names',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { params: EndpointParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['NOT_FOUND', 'MODEL_ENDPOINT_IN_USE', 'VALIDATION_ERROR'],
      async handle(_ctx, { params }) {
        await deleteModelEndpoint(adapters, params);
        return empty(204);
      },
    }),
    route({
      method: 'post',
      path: `${ONE}/set-default`,
      summary: 'Make it the default of its type; the former default is none from then on',
      tag: 'Model endpoints',
      auth: 'admin',
      request: { params: EndpointParams },
      responses: { 200: { description: 'The endpoint', schema: ModelEndpointBody } },
      errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params }) {
        const endpoint = await requireEndpoint(adapters, params.type, params.name);
        await endpoints.setDefault(params.type, params.name);
        return json(200, await present(endpoint));
      },
    }),
  ];
}
