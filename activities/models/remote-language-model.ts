import type { ChatDelta, ChatMessage, ChatOptions, LanguageModel } from '../ports/models.js';
import { countInSlices } from '../text/count-in-slices.js';
import type { ResilientCalls } from './resilience.js';
import type { ModelServer } from './servers/model-server.js';
import { providerError } from './servers/provider-failure.js';
import { plainText } from './servers/wordpiece-text.js';

/** Our count of a text and that of another tokeniser lie within a factor of two, of a few words aside. */
const OTHER_TOKENISERS = 2;
const FEW_TOKENS = 64;

/** What is left of an answer's tokens behind a delta. */
async function leftBehind(left: number, delta: ChatDelta, signal: AbortSignal | undefined): Promise<number> {
  const behindWords = left - (await countInSlices(delta.content, left, signal));
  if (behindWords < 0 || delta.more === undefined) return behindWords;
  return behindWords - (await countInSlices(JSON.stringify(delta.more), behindWords, signal));
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
      const { signal, maxTokens = contextTokens } = chat;
      // Whether or not a server keeps to the number of tokens that it was asked for: what goes far beyond it ends
      // there, as an answer that is cut for its length.
      let left = maxTokens * OTHER_TOKENISERS + FEW_TOKENS;
      try {
        for await (const delta of calls.stream(() => server.stream(callOf(messages, chat)), signal)) {
          left = await leftBehind(left, delta, signal);
          if (left < 0) {
            yield { content: '', finishReason: 'length' };
            return;
          }
          yield delta;
        }
      } catch (error) {
        throw providerError(error, 'chat', endpointName);
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
