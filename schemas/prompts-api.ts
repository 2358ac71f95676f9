import { z } from 'zod';
import { PROMPT_TYPES } from './prompts.js';

/** Request and answer bodies of prompts (wire contract, section 1.10). */

export const PromptTypeName = z.enum(PROMPT_TYPES);

const PromptName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, 'must be letters, digits, spaces, . _ -');

const PromptContent = z
  .string()
  .max(100_000)
  .refine((text) => text.trim() !== '', 'must not be empty');

export const NewPrompt = z
  .object({ prompt_type: PromptTypeName, name: PromptName, content: PromptContent })
  .meta({ id: 'NewPrompt' });

export const PromptPatch = z
  .object({ name: PromptName.optional(), content: PromptContent.optional() })
  .meta({ id: 'PromptPatch' });

export const PromptBody = z
  .object({
    id: z.string(),
    prompt_type: PromptTypeName,
    name: z.string(),
    content: z.string(),
    is_default: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    used_by: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .meta({ description: 'Partitions and presets that name it' }),
  })
  .meta({ id: 'Prompt' });

export const PromptList = z.array(PromptBody);
