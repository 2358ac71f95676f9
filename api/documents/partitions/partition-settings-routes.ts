import type { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import { PARTITION_DEFAULTS } from '../../../schemas/documents/partitions.js';
import type { PartitionPatch, PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { PresetType } from '../../../schemas/models/presets.js';
import {
  EmbedderChoices,
  PartitionDetail,
  PartitionPatchBody,
} from '../../../schemas/documents/partitions-api.js';
import { updatePartition } from '../../../activities/documents/commands/update-partition.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { listIndexedEmbedders } from './indexed-embedders.js';
import { PartitionParams } from '../../http/identifiers.js';

/** What a partition is set to, and how that reads when every name in it is resolved. */
export function partitionSettingsRoutes({ adapters }: GatewayDeps): Route[] {
  const { partitions, files, models, presets } = adapters;

  /** A preset that is gone reads as the default one, which cannot go. */
  const pipelineOf = async (type: PresetType, name: string): Promise<object> => {
    const preset = (await presets.get(type, name)) ?? (await presets.get(type, 'default'));
    return preset?.config ?? {};
  };

  const detail = async (record: PartitionRecord) => {
    const { partition, embedder } = record;
    const [counts, embedders, indexed, indexation, retrieval] = await Promise.all([
      files.countLive([partition]),
      models.list('embedder'),
      listIndexedEmbedders(adapters, partition),
      pipelineOf('indexation', record.indexation_preset),
      pipelineOf('retrieval', record.retrieval_preset),
    ]);
    const count = counts.get(partition) ?? 0;
    const dimension = embedders.find(({ name }) => name === embedder)?.dimension ?? null;
    return {
      name: partition,
      description: record.description,
      embedder,
      indexation_preset: record.indexation_preset,
      retrieval_preset: record.retrieval_preset,
      indexation_pipeline: indexation,
      retrieval_pipeline: retrieval,
      dimension: count === 0 ? null : dimension,
      created_at: record.created_at.toISOString(),
      document_count: count,
      chat_history_depth: record.chat_history_depth,
      chat_llm: record.chat_llm,
      generation_prompt_names: record.generation_prompt_names,
      indexed_embedders: indexed,
    };
  };

  return [
    route({
      method: 'get',
      path: '/partition/{partition}/config',
      summary: "A partition's settings, its presets resolved",
      tag: 'Partitions',
      auth: { partition: 'viewer' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'Settings', schema: PartitionDetail } },
      errors: ['PARTITION_NOT_FOUND'],
      async handle(_ctx, { params }) {
        const record = await partitions.get(params.partition);
        if (record === null) throw new AppError('PARTITION_NOT_FOUND', undefined, { plain: true });
        return json(200, await detail(record));
      },
    }),
    route({
      method: 'get',
      path: '/partition/{partition}/embedders',
      summary: 'The embedders that the partition can be set or moved to: what owners may know of endpoints',
      tag: 'Partitions',
      auth: { partition: 'owner' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'By name', schema: EmbedderChoices } },
      errors: ['PARTITION_NOT_FOUND'],
      async handle() {
        const found = await models.list('embedder');
        return json(200, {
          embedders: found
            // Without a field for its vectors it can be given no partition.
            .filter(({ vector_field: field }) => field !== null)
            .map(({ name, dimension, is_default }) => ({ name, dimension, is_default })),
        });
      },
    }),
    route({
      method: 'patch',
      path: '/partition/{partition}',
      summary: "Change a partition's settings; the embedder only while it is empty",
      tag: 'Partitions',
      auth: { partition: 'owner' },
      request: { params: PartitionParams, body: PartitionPatchBody },
      responses: { 200: { description: 'Settings', schema: PartitionDetail } },
      errors: [
        'PARTITION_NOT_FOUND',
        'VALIDATION_ERROR',
        'MODEL_ENDPOINT_NOT_FOUND',
        'PRESET_NOT_FOUND',
        'PROMPT_NOT_FOUND',
        'PARTITION_HAS_INDEXED_FILES',
        'INDEXING_IN_PROGRESS',
        'EMBEDDER_SWAP_IN_PROGRESS',
      ],
      async handle(_ctx, { params, body }) {
        return json(200, await detail(await updatePartition(adapters, params.partition, withDefaults(body))));
      },
    }),
  ];
}

/** What is given, and nothing else; names that are cleared are left out of the record. */
function withDefaults(body: z.output<typeof PartitionPatchBody>): PartitionPatch {
  const { generation_prompt_names: prompts, ...rest } = body;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  if (prompts === undefined) return given;
  const named = Object.entries(prompts).filter(([, name]) => name != null);
  return {
    ...given,
    generation_prompt_names:
      named.length === 0 ? PARTITION_DEFAULTS.generation_prompt_names : Object.fromEntries(named),
  };
}
