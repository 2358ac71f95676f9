import { z } from 'zod';

/** Request and answer bodies of tools (wire contract, section 1.9). */

export const ToolList = z.array(z.object({ name: z.string(), description: z.string() }));

export const ToolForm = z
  .object({
    file: z.file().meta({ description: 'What the tool works on' }),
    tool: z
      .string()
      .meta({ description: 'A JSON object with `name`', examples: ['{"name": "extractText"}'] }),
    metadata: z
      .string()
      .optional()
      .meta({ description: 'A JSON object; `name` and `mime` say what the file is' }),
  })
  .meta({ id: 'ToolForm' });

export const ToolResult = z.object({ message: z.string() }).meta({ id: 'ToolResult' });

/** What `tool` and `metadata` of the form hold. */
export const ToolCall = z.object({ name: z.string().min(1) });
export const ToolFileMetadata = z.object({ name: z.string().nullish(), mime: z.string().nullish() });
