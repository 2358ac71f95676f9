import { z } from 'zod';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import { ModelEntry, ModelList } from '../../../schemas/retrieval/chat-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { modelIds, resolveModel } from './resolve-model.js';

const OWNER = 'OpenRAG';

function entry(id: string, created = 0): z.infer<typeof ModelEntry> {
  return {
    id,
    object: 'model',
    created,
    owned_by: OWNER,
  };
}

function createdOf({ created_at: at }: PartitionRecord): number {
  return Math.floor(at.getTime() / 1000);
}

/** Partitions as models, for clients that choose among what is listed. */
export function modelListRoutes({ adapters, config }: GatewayDeps): Route[] {
  const { modelIdPrefix } = config.chat;
  return [
    route({
      method: 'get',
      path: '/v1/models',
      summary: 'Partitions as models',
      tag: 'Chat',
      auth: 'user',
      responses: { 200: { description: 'Model names', schema: ModelList } },
      async handle({ scope }) {
        const ids = modelIds(modelIdPrefix);
        const partitions = await adapters.partitions.list(scope);
        return json(200, {
          object: 'list',
          data: [
            ...partitions.map((record) => entry(ids.partition(record.partition), createdOf(record))),
            entry(ids.all),
          ],
        });
      },
    }),
    route({
      method: 'get',
      path: '/v1/models/{id}',
      summary: 'One model, under any of the names that chat accepts',
      tag: 'Chat',
      auth: 'user',
      request: { params: z.object({ id: z.string() }) },
      responses: { 200: { description: 'The model', schema: ModelEntry } },
      errors: ['NOT_FOUND', 'PARTITION_NOT_FOUND', 'AUTH_ERROR'],
      async handle({ scope }, { params: { id } }) {
        const target = await resolveModel(adapters, scope, modelIdPrefix, id);
        const [partition] =
          target.kind === 'retrieval' && target.partitions !== 'all' ? target.partitions : [];
        const record = partition === undefined ? null : await adapters.partitions.get(partition);
        return json(200, entry(id, record === null ? 0 : createdOf(record)));
      },
    }),
  ];
}
