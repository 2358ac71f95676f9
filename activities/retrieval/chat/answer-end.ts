import { countInSlices } from '../../text/count-in-slices.js';
import type { ChatMessage } from '../../ports/models.js';
import { countMessageTokens } from '../../models/builtin/message-tokens.js';
import type { ChatEnd } from './chat-request.js';
import { isWebPage } from './chat-sources.js';
import type { ChatSource, ChatSources } from './chat-sources.js';
import { createSupportFinder } from './find-support.js';
import type { Support } from './find-support.js';
import type { JudgedSentence } from './keep-verified.js';
import type { RelayedAnswer } from './relay-model-stream.js';
import { checkAnswer } from '../verification/check-answer.js';
import { isRefusal } from '../verification/is-refusal.js';

/** What was asked of the model, and what came of it. */
export interface Asked {
  relay: RelayedAnswer;
  messages: readonly ChatMessage[];
  presented: ChatSource[];
  /** Checked while the answer was shown; else they are checked here. */
  sentences?: JudgedSentence[];
}

/** What a source says, as far as the prompt could hold it. */
export function textsOf(presented: readonly ChatSource[]): string[] {
  return presented.map((source) => (isWebPage(source) ? source.snippet : source.chunk.text));
}

async function judged({ relay, presented, sentences }: Asked): Promise<JudgedSentence[]> {
  if (sentences !== undefined) return sentences;
  const checked = await checkAnswer(relay.shown, textsOf(presented));
  return checked.map((sentence) => ({ ...sentence, withheld: false }));
}

/** Words of a quote may all be there and still say something else, which is seen sentence by sentence. */
function isContradicted(number: number, sentences: readonly JudgedSentence[]): boolean {
  return sentences.some(
    ({ cited, fault }) =>
      cited.includes(number) && fault !== undefined && fault !== 'words' && fault !== 'unchecked',
  );
}

function sourcesOf({ relay, presented }: Asked, sentences: readonly JudgedSentence[]): ChatSources {
  const { cited: numbers, reported, none } = relay.citations;
  const supports = new Map<ChatSource, Support>();
  const support = numbers.length === 0 ? null : createSupportFinder(relay.shown);
  const cited = numbers.flatMap((number) => {
    const source = presented[number - 1];
    if (source === undefined) return [];
    const found = isWebPage(source) ? null : support?.(source.chunk.text, number);
    if (found != null)
      supports.set(source, { ...found, verified: found.verified && !isContradicted(number, sentences) });
    return [source];
  });
  return { presented, cited, supports, reported, none };
}

/** The last event of an answer, but for what the steps before the model have to say. */
export async function answerEnd(asked: Asked): Promise<ChatEnd> {
  const { relay, messages, presented } = asked;
  const sentences = presented.length === 0 ? [] : await judged(asked);
  const sources = sourcesOf(asked, sentences);
  const isWithheld =
    sentences.some(({ withheld }) => withheld) &&
    sentences.every(({ withheld, supported }) => withheld || supported === null);
  return {
    type: 'end',
    finishReason: relay.finishReason,
    usage: relay.usage ?? {
      promptTokens: await countMessageTokens(messages),
      completionTokens: await countInSlices(relay.answer),
    },
    truncated: relay.error !== undefined,
    ...(relay.linksRemoved > 0 && { linksRemoved: relay.linksRemoved }),
    ...(relay.error !== undefined && { error: relay.error }),
    sources,
    refused: isWithheld || (presented.length > 0 && sources.cited.length === 0 && isRefusal(relay.shown)),
    ...(sentences.length > 0 && { sentences }),
  };
}
