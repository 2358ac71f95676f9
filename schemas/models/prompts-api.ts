import { z } from 'zod';
import { PROMPT_TYPES } from './prompts.js';
import { SettingName } from './setting-name.js';

/** Request and answer bodies of prompts (wire contract, section 1.10). */

export const PromptTypeName = z.enum(PROMPT_TYPES);

const PromptContent = z
  .string()
  .max(100_000)
  .refine((text) => text.trim() !== '', 'must not be empty');

export const NewPrompt = z
  .strictObject({
    prompt_type: PromptTypeName,
    name: SettingName,
    content: PromptContent,
    is_default: z.boolean().default(false),
  })
  .meta({ id: 'NewPrompt' });
export type NewPrompt = z.output<typeof NewPrompt>;

export const PromptPatch = z
  .strictObject({
    name: SettingName.optional(),
    content: PromptContent.optional(),
    is_default: z.boolean().optional().meta({
      description: 'True makes it the default of its type; the default itself cannot be told false',
    }),
  })
  .meta({ id: 'PromptPatch' });
export type PromptPatch = z.output<typeof PromptPatch>;

export const PromptBody = z
  .object({
    id: z.string(),
    prompt_type: PromptTypeName,
    name: z.string(),
    content: z.string(),
    is_default: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    used_by: z.int().meta({ description: 'How many partitions and presets name it' }),
    used_by_names: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .meta({ description: 'The partitions and presets that name it' }),
  })
  .meta({ id: 'Prompt' });

export const PromptList = z.array(PromptBody);
