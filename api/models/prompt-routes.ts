import { z } from 'zod';
import type { PromptRecord } from '../../schemas/models/presets.js';
import {
  NewPrompt,
  PromptBody,
  PromptList,
  PromptPatch,
  PromptTypeName,
} from '../../schemas/models/prompts-api.js';
import { createPrompt, deletePrompt, requirePromptById, updatePrompt } from './change-prompt.js';
import { referencesToPrompts } from './find-references.js';
import { empty, json, route } from '../http/route.js';
import type { Route } from '../http/route.js';
import type { GatewayDeps } from '../gateway-deps.js';

const ONE = '/prompts/{id}';
const PromptParams = z.object({ id: z.string() });

const PromptQuery = z.object({
  prompt_type: PromptTypeName.optional(),
  offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

/** Prompts that replace the bundled texts (wire contract, section 1.10). */
export function promptRoutes({ adapters }: GatewayDeps): Route[] {
  const { prompts } = adapters;

  const presentAll = async (records: readonly PromptRecord[]): Promise<z.input<typeof PromptBody>[]> => {
    const [defaults, references] = await Promise.all([
      prompts.defaults(),
      referencesToPrompts(adapters, records),
    ]);
    return records.map(({ created_at, updated_at, ...prompt }) => {
      const users = references.get(`${prompt.prompt_type}/${prompt.name}`) ?? [];
      return {
        ...prompt,
        is_default: defaults[prompt.prompt_type] === prompt.id,
        created_at: created_at.toISOString(),
        updated_at: updated_at.toISOString(),
        used_by: users.length,
        used_by_names: users,
      };
    });
  };
  const present = async (record: PromptRecord) => (await presentAll([record]))[0];

  return [
    route({
      method: 'get',
      path: '/prompts/',
      summary: 'Prompts',
      tag: 'Prompts',
      auth: 'admin',
      request: { query: PromptQuery },
      responses: { 200: { description: 'By type and name', schema: PromptList } },
      errors: ['VALIDATION_ERROR'],
      async handle(_ctx, { query: { prompt_type: type, offset, limit } }) {
        const page = { offset, limit, ...(type === undefined ? {} : { type }) };
        return json(200, await presentAll(await prompts.list(page)));
      },
    }),
    route({
      method: 'post',
      path: '/prompts/',
      summary: 'Write a prompt',
      tag: 'Prompts',
      auth: 'admin',
      request: { body: NewPrompt },
      responses: { 201: { description: 'The prompt', schema: PromptBody } },
      errors: ['PROMPT_EXISTS', 'VALIDATION_ERROR'],
      async handle(_ctx, { body }) {
        return json(201, await present(await createPrompt(adapters, body)));
      },
    }),
    route({
      method: 'get',
      path: ONE,
      summary: 'A prompt',
      tag: 'Prompts',
      auth: 'admin',
      request: { params: PromptParams },
      responses: { 200: { description: 'The prompt', schema: PromptBody } },
      errors: ['NOT_FOUND'],
      async handle(_ctx, { params }) {
        return json(200, await present(await requirePromptById(adapters, params.id)));
      },
    }),
    route({
      method: 'patch',
      path: ONE,
      summary: 'Change a prompt; what names it follows a new name',
      tag: 'Prompts',
      auth: 'admin',
      request: { params: PromptParams, body: PromptPatch },
      responses: { 200: { description: 'The prompt', schema: PromptBody } },
      errors: ['NOT_FOUND', 'PROMPT_EXISTS', 'CONFLICT', 'VALIDATION_ERROR'],
      async handle(_ctx, { params, body }) {
        return json(200, await present(await updatePrompt(adapters, params.id, body)));
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      summary: 'Delete a prompt that is not the default of its type',
      tag: 'Prompts',
      auth: 'admin',
      request: { params: PromptParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle(_ctx, { params }) {
        await deletePrompt(adapters, params.id);
        return empty(204);
      },
    }),
    route({
      method: 'put',
      path: `${ONE}/default`,
      summary: 'Make it the default of its type; the former default is none from then on',
      tag: 'Prompts',
      auth: 'admin',
      request: { params: PromptParams },
      responses: { 200: { description: 'The prompt', schema: PromptBody } },
      errors: ['NOT_FOUND'],
      async handle(_ctx, { params }) {
        const record = await requirePromptById(adapters, params.id);
        await prompts.setDefault(record.prompt_type, record.id);
        return json(200, await present(record));
      },
    }),
  ];
}
