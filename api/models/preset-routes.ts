import { z } from 'zod';
import { RERANKER_PROVIDERS } from '../../schemas/models/model-endpoints.js';
import type { PresetRecord } from '../../schemas/models/presets.js';
import {
  CHUNKING_STRATEGIES,
  NewPreset,
  PARSING_STRATEGIES,
  PRESET_TYPES,
  PresetBody,
  PresetList,
  PresetOptions,
  PresetPatch,
  PresetTypeName,
  RETRIEVAL_TYPES,
} from '../../schemas/models/presets-api.js';
import { createPreset, deletePreset, requirePreset, updatePreset } from './change-preset.js';
import type { ChangedPreset } from './change-preset.js';
import { partitionsByPreset } from './find-references.js';
import { empty, json, route } from '../http/route.js';
import type { Route } from '../http/route.js';
import type { GatewayDeps } from '../gateway-deps.js';

const ONE = '/presets/{type}/{name}';
const PresetParams = z.object({ type: PresetTypeName, name: z.string() });

function present(preset: PresetRecord, uses: Map<string, number>): z.input<typeof PresetBody> {
  return {
    name: preset.name,
    preset_type: preset.preset_type,
    config: { ...preset.config },
    created_at: preset.created_at.toISOString(),
    updated_at: preset.updated_at.toISOString(),
    used_by_partitions: uses.get(preset.name) ?? 0,
  };
}

/** How partitions index and how they are searched, by name (wire contract, section 1.10). */
export function presetRoutes({ adapters, config }: GatewayDeps): Route[] {
  const withUses = async (preset: PresetRecord) =>
    present(preset, await partitionsByPreset(adapters, preset.preset_type));

  const changed = async ({ preset, warnings }: ChangedPreset) => ({
    ...(await withUses(preset)),
    ...(warnings.length === 0 ? {} : { warnings }),
  });

  return [
    route({
      method: 'get',
      path: '/presets/options',
      summary: 'What presets may choose from',
      tag: 'Presets',
      auth: 'admin',
      responses: { 200: { description: 'Choices', schema: PresetOptions } },
      handle: () =>
        json(200, {
          chunking_strategies: CHUNKING_STRATEGIES,
          parsing_strategies: PARSING_STRATEGIES,
          retrieval_types: RETRIEVAL_TYPES,
          reranker_providers: RERANKER_PROVIDERS,
          default_top_n: config.chat.topN,
        }),
    }),
    route({
      method: 'get',
      path: '/presets/',
      summary: 'Presets',
      tag: 'Presets',
      auth: 'admin',
      request: { query: z.object({ preset_type: PresetTypeName.optional() }) },
      responses: { 200: { description: 'By type and name', schema: PresetList } },
      errors: ['VALIDATION_ERROR'],
      async handle(_ctx, { query }) {
        const types = query.preset_type === undefined ? PRESET_TYPES : [query.preset_type];
        const lists = types.map(async (type) => {
          const [presets, uses] = await Promise.all([
            adapters.presets.list(type),
            partitionsByPreset(adapters, type),
          ]);
          return presets.map((preset) => present(preset, uses));
        });
        return json(200, (await Promise.all(lists)).flat());
      },
    }),
    route({
      method: 'post',
      path: '/presets/',
      summary: 'Create a preset',
      tag: 'Presets',
      auth: 'admin',
      request: { body: NewPreset },
      responses: { 201: { description: 'The preset', schema: PresetBody } },
      errors: ['PRESET_EXISTS', 'MODEL_ENDPOINT_NOT_FOUND', 'PROMPT_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { body }) {
        return json(201, await changed(await createPreset(adapters, body)));
      },
    }),
    route({
      method: 'get',
      path: ONE,
      summary: 'A preset',
      tag: 'Presets',
      auth: 'admin',
      request: { params: PresetParams },
      responses: { 200: { description: 'The preset', schema: PresetBody } },
      errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params }) {
        return json(200, await withUses(await requirePreset(adapters, params.type, params.name)));
      },
    }),
    route({
      method: 'put',
      path: ONE,
      summary: 'Change a preset; partitions follow a new name',
      tag: 'Presets',
      auth: 'admin',
      request: { params: PresetParams, body: PresetPatch },
      responses: { 200: { description: 'The preset', schema: PresetBody } },
      errors: [
        'NOT_FOUND',
        'PRESET_EXISTS',
        'CONFLICT',
        'MODEL_ENDPOINT_NOT_FOUND',
        'PROMPT_NOT_FOUND',
        'VALIDATION_ERROR',
      ],
      async handle(_ctx, { params, body }) {
        return json(200, await changed(await updatePreset(adapters, params, body)));
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      summary: 'Delete a preset that no partition uses',
      tag: 'Presets',
      auth: 'admin',
      request: { params: PresetParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['NOT_FOUND', 'PRESET_IN_USE', 'VALIDATION_ERROR'],
      async handle(_ctx, { params }) {
        await deletePreset(adapters, params);
        return empty(204);
      },
    }),
  ];
}
