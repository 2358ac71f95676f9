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

/**
 * Words of a quote may all be there and still say something else, which is seen sentence by sentence. A sentence that
 * names no source speaks of the quote that was found for it alone.
 */
function isContradicted(number: number, claim: string, sentences: readonly JudgedSentence[]): boolean {
  return sentences.some(
    ({ text, cited, fault }) =>
      (cited.includes(number) || (cited.length === 0 && text === claim)) &&
      fault !== undefined &&
      fault !== 'words' &&
      fault !== 'unchecked',
  );
}

/** Whether something was left out, and nothing that claims anything was shown. */
function isAllWithheld(sentences: readonly JudgedSentence[]): boolean {
  return (
    sentences.some(({ withheld }) => withheld) &&
    sentences.every(({ withheld, supported }) => withheld || supported === null)
  );
}

/** The numbers of the citation line without those that only sentences name which were left out. */
function shownNumbers(numbers: readonly number[], sentences: readonly JudgedSentence[]): readonly number[] {
  if (isAllWithheld(sentences)) return [];
  const shown = sentences.filter(({ withheld }) => !withheld);
  // What names no source may rest on any of the line.
  if (shown.some(({ cited, supported }) => cited.length === 0 && supported !== null)) return numbers;
  const isNamed = (number: number, among: readonly JudgedSentence[]): boolean =>
    among.some(({ cited }) => cited.includes(number));
  return numbers.filter((number) => isNamed(number, shown) || !isNamed(number, sentences));
}

/** The answer as its reader has it. */
function shownText({ relay }: Asked, sentences: readonly JudgedSentence[]): string {
  if (sentences.every(({ withheld }) => !withheld)) return relay.shown;
  return sentences.flatMap(({ text, withheld }) => (withheld ? [] : [text])).join('\n');
}

function sourcesOf(asked: Asked, sentences: readonly JudgedSentence[]): ChatSources {
  const { relay, presented } = asked;
  const { cited: named, reported, none } = relay.citations;
  const numbers = shownNumbers(named, sentences);
  const supports = new Map<ChatSource, Support>();
  const support =
    numbers.length === 0 ? null : createSupportFinder(shownText(asked, sentences), textsOf(presented));
  const cited = numbers.flatMap((number) => {
    const source = presented[number - 1];
    if (source === undefined) return [];
    const found = isWebPage(source) ? null : support?.(source.chunk.text, number);
    if (found != null) {
      const verified = found.verified && !isContradicted(number, found.claim, sentences);
      supports.set(source, { ...found, verified });
    }
    return [source];
  });
  return { presented, cited, supports, reported, none: none || (named.length > 0 && numbers.length === 0) };
}

/** Whether an answer says that its sources do not hold it; not where a sentence takes something else from one. */
function findsNothing({ relay, presented }: Asked, sentences: readonly JudgedSentence[]): boolean {
  const takesFromSource = sentences.some(({ text, cited }) => cited.length > 0 && !isRefusal(text));
  return presented.length > 0 && !takesFromSource && isRefusal(relay.shown);
}

/** The last event of an answer, but for what the steps before the model have to say. */
export async function answerEnd(asked: Asked): Promise<ChatEnd> {
  const { relay, messages, presented } = asked;
  const sentences = presented.length === 0 ? [] : await judged(asked);
  const sources = sourcesOf(asked, sentences);
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
    refused: isAllWithheld(sentences) || (sources.cited.length === 0 && findsNothing(asked, sentences)),
    ...(sentences.length > 0 && { sentences }),
  };
}
