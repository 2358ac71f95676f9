import { countInSlices } from '../../text/count-in-slices.js';
import type { ChatMessage } from '../../ports/models.js';
import { countMessageTokens } from '../../models/builtin/message-tokens.js';
import type { ChatEvent } from './chat-request.js';
import { isWebPage } from './chat-sources.js';
import type { ChatSource, ChatSources } from './chat-sources.js';
import { createSupportFinder } from './find-support.js';
import type { Support } from './find-support.js';
import type { RelayedAnswer } from './relay-model-stream.js';

/** What was asked of the model, and what came of it. */
export interface Asked {
  relay: RelayedAnswer;
  messages: readonly ChatMessage[];
  presented: ChatSource[];
}

function sourcesOf({ relay, presented }: Asked): ChatSources {
  const { cited: numbers, reported, none } = relay.citations;
  const supports = new Map<ChatSource, Support>();
  const support = numbers.length === 0 ? null : createSupportFinder(relay.answer);
  const cited = numbers.flatMap((number) => {
    const source = presented[number - 1];
    if (source === undefined) return [];
    const found = isWebPage(source) ? null : support?.(source.chunk.text, number);
    if (found != null) supports.set(source, found);
    return [source];
  });
  return { presented, cited, supports, reported, none };
}

/** The last event of an answer, but for what the steps before the model have to say. */
export async function answerEnd(asked: Asked): Promise<Extract<ChatEvent, { type: 'end' }>> {
  const { relay, messages } = asked;
  return {
    type: 'end',
    finishReason: relay.finishReason,
    usage: relay.usage ?? {
      promptTokens: await countMessageTokens(messages),
      completionTokens: await countInSlices(relay.answer),
    },
    truncated: relay.error !== undefined,
    ...(relay.error !== undefined && { error: relay.error }),
    sources: sourcesOf(asked),
  };
}
