import { z } from 'zod';
import type { ChatReply } from '../../ports/models.js';

const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int() });

/** The token counts of an answer; nothing when the server gives none. */
export const openAiUsage = (usage: unknown): Pick<ChatReply, 'usage'> => {
  const parsed = Usage.safeParse(usage);
  if (!parsed.success) return {};
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = parsed.data;
  return { usage: { promptTokens, completionTokens } };
};
