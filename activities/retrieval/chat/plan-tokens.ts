import { AppError } from '../../../schemas/app-error.js';
import type { ChatMessage } from '../../ports/models.js';
import { countMessageTokens } from '../../models/builtin/message-tokens.js';
import { leastTokens } from '../../text/count-in-slices.js';
import { MIN_SOURCES_BUDGET } from './prompt.js';

/**
 * Counts before anything costly is done. `left` is what the sources may take.
 *
 * @param options.answerTokens of an answer where `maxTokens` says nothing
 * @param options.overhead tokens of the instructions, 0 without retrieval
 * @throws AppError CONTEXT_TOO_LONG
 */
export async function planTokens(options: {
  messages: readonly ChatMessage[];
  maxTokens: number | undefined;
  contextTokens: number;
  answerTokens: number;
  overhead: number;
  signal: AbortSignal;
}): Promise<{ maxTokens: number; left: number }> {
  const { contextTokens: context, overhead } = options;
  // A default answer budget never takes more than half of a small context; what the client asks for is its own.
  const maxTokens = options.maxTokens ?? Math.min(options.answerTokens, Math.floor(context / 2));
  const length = options.messages.reduce((sum, { content }) => sum + content.length, 0);
  // What cannot fit by its length alone is not read, and what does not fit no further than is needed to know it.
  const messages =
    leastTokens(length) > context
      ? leastTokens(length)
      : await countMessageTokens(options.messages, context, options.signal);
  const left = context - messages - maxTokens - overhead;
  if (left >= (overhead === 0 ? 0 : MIN_SOURCES_BUDGET)) return { maxTokens, left };
  throw new AppError(
    'CONTEXT_TOO_LONG',
    `Request exceeds maximum token limit. The messages take ${messages > context ? `more than ${context}` : messages} tokens, the answer up to ${maxTokens}` +
      `${overhead === 0 ? '' : ` and the instructions ${overhead}`}; the model's context holds ${context}.`,
  );
}
