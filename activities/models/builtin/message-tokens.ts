import { countInSlices } from '../../text/count-in-slices.js';

/** What the chat format adds to each message, as the wire contract counts it (section 1.9, 413). */
export const TOKENS_PER_MESSAGE = 4;

/**
 * Tokens (o200k) of chat messages, the overhead of each included; counted until there are more than `most`.
 * @throws the signal's reason
 */
export async function countMessageTokens(
  messages: readonly { content: string }[],
  most = Infinity,
  signal?: AbortSignal,
): Promise<number> {
  let sum = messages.length * TOKENS_PER_MESSAGE;
  for (const { content } of messages) {
    if (sum > most) break;
    sum += await countInSlices(content, most - sum, signal);
  }
  return sum;
}
