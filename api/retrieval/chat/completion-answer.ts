import type { TokenLogprob } from '../../../activities/ports/models.js';
import { chatExtra, chatUsage } from './chat-answer.js';
import type { ChatFrame } from './chat-answer.js';
import type { CollectedAnswer } from './collect-answer.js';
import type { Links } from '../../http/links.js';

function numberIn(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** Alternatives by their text; null where none were asked for. */
function alternatives({ top_logprobs: top }: TokenLogprob): Record<string, number> | null {
  return Array.isArray(top) && top.length > 0
    ? Object.fromEntries(
        (top as TokenLogprob[]).map(({ token, logprob }) => [token, numberIn(logprob) ?? -Infinity]),
      )
    : null;
}

/** Log probabilities as the older format has them: lists side by side. */
function logprobLists(logprobs: readonly TokenLogprob[], from: number) {
  if (logprobs.length === 0) return null;
  let offset = from;
  return {
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => numberIn(logprob)),
    top_logprobs: logprobs.map(alternatives),
    text_offset: logprobs.map(({ token }) => {
      const at = offset;
      offset += token.length;
      return at;
    }),
  };
}

/** @param echoed stands in front of the answer */
export function completionAnswer(frame: ChatFrame, answer: CollectedAnswer, link: Links, echoed: string) {
  return {
    ...frame,
    object: 'text_completion' as const,
    choices: [
      {
        index: 0,
        text: echoed + answer.content,
        logprobs: logprobLists(answer.logprobs, echoed.length),
        finish_reason: answer.end.finishReason,
      },
    ],
    usage: chatUsage(answer.end),
    extra: chatExtra(answer.end, link),
  };
}
