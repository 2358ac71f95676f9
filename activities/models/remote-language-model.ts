import type { ChatDelta, ChatMessage, ChatOptions, LanguageModel } from '../ports/models.js';
import { countInSlices } from '../text/count-in-slices.js';
import type { ResilientCalls } from './resilience.js';
import type { ModelServer } from './servers/model-server.js';
import { providerError } from './servers/provider-failure.js';
import { plainText } from './servers/wordpiece-text.js';

/** Our count of a text and that of another tokeniser lie within a factor of two, of a few words aside. */
const OTHER_TOKENISERS = 2;
const FEW_TOKENS = 64;

/**
 * Whether or not a server keeps to the number of tokens that it was asked for: what goes far beyond it ends there, as
 * an answer that is cut for its length.
 */
async function* withinTokens(
  deltas: AsyncGenerator<ChatDelta, void, undefined>,
  maxTokens: number,
  signal: AbortSignal,
): AsyncGenerator<ChatDelta, void, undefined> {
  let left = maxTokens * OTHER_TOKENISERS + FEW_TOKENS;
  for await (const delta of deltas) {
    const more = delta.more === undefined ? '' : JSON.stringify(delta.more);
    left -= await countInSlices(delta.content, left, signal);
    if (left >= 0) left -= await countInSlices(more, left, signal);
    if (left < 0) {
      yield { content: '', finishReason: 'length' };
      return;
    }
    yield delta;
  }
}

/** A language model behind a model server. Aborting, or leaving the stream, stops the generation on the server. */
export function createRemoteLanguageModel(options: {
  endpointName: string;
  modelName: string;
  contextTokens: number;
  /** Null: the service's setting. */
  answerTokens: number | null;
  server: Pick<ModelServer, 'stream' | 'complete'>;
  calls: ResilientCalls;
}): LanguageModel {
  const { endpointName, modelName, contextTokens, server, calls } = options;
  const callOf = (messages: readonly ChatMessage[], chat: ChatOptions) => ({
    model: modelName,
    messages: messages.map((message) => ({ ...message, content: plainText(message.content) })),
    options: chat,
    contextTokens,
  });
  return {
    endpointName,
    modelName,
    contextTokens,
    ...(options.answerTokens !== null && { answerTokens: options.answerTokens }),
    async *stream(messages, chat) {
      // The consumer may leave by `return` alone, without a signal of its own.
      const left = new AbortController();
      const signal = chat.signal === undefined ? left.signal : AbortSignal.any([chat.signal, left.signal]);
      try {
        const deltas = calls.stream(() => server.stream(callOf(messages, { ...chat, signal })), signal);
        yield* withinTokens(deltas, chat.maxTokens ?? contextTokens, signal);
      } catch (error) {
        throw providerError(error, 'chat', endpointName);
      } finally {
        left.abort();
      }
    },
    async complete(messages, chat) {
      try {
        return await calls.run(() => server.complete(callOf(messages, chat)), chat.signal);
      } catch (error) {
        throw providerError(error, 'chat', endpointName);
      }
    },
  };
}
