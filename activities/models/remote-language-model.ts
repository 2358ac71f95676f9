import type { ChatDelta, ChatMessage, ChatOptions, LanguageModel, MoreFields } from '../ports/models.js';
import { countInSlices } from '../text/count-in-slices.js';
import type { ResilientCalls } from './resilience.js';
import type { ModelServer } from './servers/model-server.js';
import { providerError } from './servers/provider-failure.js';
import { plainText } from './servers/wordpiece-text.js';

/** Our count of a text and that of another tokeniser lie within a factor of two, of a few words aside. */
const OTHER_TOKENISERS = 2;
const FEW_TOKENS = 64;

/** Fields that hold what a model says. What the others hold is the form of a delta: names of types, ids, signatures. */
const SAYING: ReadonlySet<string> = new Set([
  'arguments',
  'content',
  'name',
  'reasoning',
  'summary',
  'text',
  'thinking',
  'transcript',
]);

function saidIn(value: unknown, isSaid: boolean): string {
  if (typeof value === 'string') return isSaid ? value : '';
  if (typeof value !== 'object' || value === null) return '';
  if (Array.isArray(value)) return value.map((item) => saidIn(item, isSaid)).join('');
  return Object.entries(value)
    .map(([name, field]) => saidIn(field, SAYING.has(name)))
    .join('');
}

/** What a delta says beside its content: the calls of tools, and thoughts, which servers repeat in several fields. */
function saidBeside({ tool_calls: tools, function_call: call, ...others }: MoreFields): string {
  const thoughts = Object.values(others)
    .map((field) => saidIn(field, true))
    .reduce((longest, said) => (said.length > longest.length ? said : longest), '');
  return saidIn([tools, call], false) + thoughts;
}

/**
 * What is left of an answer's tokens behind a delta. Many servers send a token in each, so its form does not count: it
 * is several times as long. A delta that says nothing we know of counts as one token.
 */
async function leftBehind(left: number, delta: ChatDelta, signal: AbortSignal | undefined): Promise<number> {
  const behindWords = left - (await countInSlices(delta.content, left, signal));
  if (behindWords < 0 || delta.more === undefined) return behindWords;
  return behindWords - Math.max(1, await countInSlices(saidBeside(delta.more), behindWords, signal));
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
