import { AppError } from '../../../schemas/app-error.js';
import type {
  ChatDelta,
  ChatMessage,
  ChatOptions,
  FinishReason,
  LanguageModel,
  MoreFields,
  TokenLogprob,
} from '../../ports/models.js';
import type { LinkFilter } from './answer-links.js';
import type { CitationFilter, Citations } from './citations.js';
import { createTextCollector } from '../../text/text-collector.js';
import { waitsUntilAbort } from './aborts.js';
import { createShownLogprobs } from './shown-logprobs.js';

/** A delta of an answer as it is shown. */
export interface ShownDelta {
  type: 'delta';
  content: string;
  more?: MoreFields;
  logprobs?: TokenLogprob[];
}

export interface RelayedAnswer {
  /** The whole text as the model gave it, the citation line included. */
  answer: string;
  /** The same as it was shown. */
  shown: string;
  citations: Omit<Citations, 'tail'>;
  finishReason: FinishReason;
  usage: { promptTokens: number; completionTokens: number } | undefined;
  /** Addresses left out of what was shown. */
  linksRemoved: number;
  /** Why the stream broke off, when it did after the first delta. */
  error: AppError | undefined;
}

/** What an answer goes through before it is shown; of an answer to nothing but the messages, neither. */
export interface AnswerFilters {
  citations: CitationFilter | null;
  links: LinkFilter | null;
  /** Told when the first delta is about to go out: from then on nothing is thrown any more. */
  onBegun?: () => void;
}

/**
 * Passes a model's words on, through the filters that there are, and says at the end how it went.
 * A model that ignores the signal is not awaited: its stream is closed in the background.
 *
 * @throws whatever goes wrong before the first delta went out, as AppError; the signal's reason when aborted then
 */
// eslint-disable-next-line complexity -- one loop over the deltas with one answer to fill
export async function* relayModelStream(
  model: LanguageModel,
  messages: readonly ChatMessage[],
  options: ChatOptions & { signal: AbortSignal },
  { citations: filter, links, onBegun }: AnswerFilters,
): AsyncGenerator<ShownDelta, RelayedAnswer, undefined> {
  const { signal } = options;
  const waits = waitsUntilAbort(signal);
  const answer = createTextCollector();
  const shownText = createTextCollector();
  const relayed: Omit<RelayedAnswer, 'answer' | 'shown'> = {
    citations: { reported: false, none: false, cited: [] },
    finishReason: 'stop',
    usage: undefined,
    linksRemoved: 0,
    error: undefined,
  };
  const probabilities = createShownLogprobs();
  const throughLinks = (text: string): string => (links === null ? text : links.push(text));
  const shownDelta = (content: string, more?: MoreFields): ShownDelta => {
    shownText.add(content);
    const logprobs = probabilities.show(content.length);
    // Behind an address that was left out they would stand beside other words.
    if (links !== null && links.removed() > 0)
      return { type: 'delta', content, ...(more !== undefined && { more }) };
    return {
      type: 'delta',
      content,
      ...(more !== undefined && { more }),
      ...(logprobs.length > 0 && { logprobs }),
    };
  };
  let begun = false;
  let finished = false;
  let iterator: AsyncIterator<ChatDelta> | undefined;
  try {
    signal.throwIfAborted();
    iterator = model.stream(messages, options)[Symbol.asyncIterator]();
    for (;;) {
      const step = await waits.orAbort(iterator.next());
      if (step.done === true) break;
      const { content, more, logprobs = [], finishReason, usage } = step.value;
      answer.add(content);
      probabilities.hear(logprobs);
      if (finishReason !== undefined) {
        relayed.finishReason = finishReason;
        finished = true;
      }
      relayed.usage = usage ?? relayed.usage;
      const shown = throughLinks(filter === null ? content : filter.push(content));
      if (shown === '' && more === undefined) continue;
      if (!begun) onBegun?.();
      begun = true;
      yield shownDelta(shown, more);
    }
    if (!finished)
      throw new AppError('INFERENCE_ERROR', 'The model provider ended its answer without a finish.');
  } catch (error) {
    if (!begun) throw signal.aborted ? error : AppError.from(error, 'INFERENCE_ERROR');
    relayed.error = AppError.from(error, 'INFERENCE_ERROR');
  } finally {
    waits.dispose();
    // Also when the consumer left, which it can between two words alone; while one is waited for, it aborts the signal.
    void iterator?.return?.().catch(() => undefined);
  }
  let rest = '';
  if (filter !== null) {
    const { tail, ...citations } = filter.end();
    relayed.citations = citations;
    rest = throughLinks(tail);
  }
  rest += links?.end() ?? '';
  relayed.linksRemoved = links?.removed() ?? 0;
  if (rest !== '') yield shownDelta(rest);
  return { ...relayed, answer: answer.text(), shown: shownText.text() };
}
