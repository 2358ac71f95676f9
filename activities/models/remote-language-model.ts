import type { ChatMessage, ChatOptions, LanguageModel } from '../ports/models.js';
import type { ResilientCalls } from './resilience.js';
import type { ModelServer } from './servers/model-server.js';
import { providerError } from './servers/provider-failure.js';
import { plainText } from './servers/wordpiece-text.js';

/** A language model behind a model server. Aborting, or leaving the stream, stops the generation on the server. */
export const createRemoteLanguageModel = (options: {
  endpointName: string;
  modelName: string;
  contextTokens: number;
  /** Null: the service's setting. */
  answerTokens: number | null;
  server: Pick<ModelServer, 'stream' | 'complete'>;
  calls: ResilientCalls;
}): LanguageModel => {
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
        yield* calls.stream(() => server.stream(callOf(messages, { ...chat, signal })), signal);
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
};
