import type { MoreFields, TokenLogprob } from '../../../activities/ports/models.js';
import type { ChatEnd, ChatEvent } from '../../../activities/retrieval/chat/chat-request.js';
import type { ShownDelta } from '../../../activities/retrieval/chat/relay-model-stream.js';
import { AppError } from '../../../schemas/app-error.js';
import { errorFrom } from '../../http/error-from.js';
import type { Logger } from '../../logger.js';
import { chatExtra, chatUsage } from './chat-answer.js';
import type { ChatFrame } from './chat-answer.js';
import type { Links } from '../../http/links.js';
import { losslessBody } from '../../http/json.js';
import { dataEvent, DONE_EVENT, errorEvent, textEvent } from '../../http/stream-events.js';
import { LATE } from '../../../activities/temporal/or-late.js';
import { withHeartbeats } from './with-heartbeats.js';
import { NO_EXTRA, writeExtra } from './write-extra.js';
import type { WrittenExtra } from './write-extra.js';

interface Delta {
  role?: 'assistant';
  content?: string;
  [more: string]: unknown;
}

export interface ChatStreamOptions {
  frame: ChatFrame;
  link: Links;
  log: Logger;
  includeUsage: boolean;
  /** Silence after which a comment is sent; 0: none. */
  heartbeatMs: number;
  /** Aborted when the client has left. */
  signal: AbortSignal;
}

/** A comment: clients skip it, and whatever stands between keeps the connection. */
const HEARTBEAT = ': still at work\n\n';

/** Words and whatever comes with them; a delta of a tool call may come without words. */
function deltaOf({ content, more }: { content: string; more?: MoreFields }): Delta {
  return {
    ...(content !== '' || more === undefined ? { content } : {}),
    ...more,
  };
}

/**
 * The answer as server-sent events (wire contract, section 1.9): a role chunk, content chunks, the last of which
 * carries the complete `extra`, a finish chunk, `[DONE]`. Each chunk also has a top-level `delta` and `sources`, for
 * clients written after the simplified description. One delta is held back, since only the end tells the last.
 *
 * @param first the first event: one that has come already, so that what fails before the answer begins gets its own
 * status, or one that is still waited for
 */
export async function* chatStream(
  first: Promise<IteratorResult<ChatEvent, void>>,
  rest: AsyncGenerator<ChatEvent, void, undefined>,
  { frame, link, log, includeUsage, heartbeatMs, signal }: ChatStreamOptions,
): AsyncGenerator<string> {
  const chunk = (
    delta: Delta,
    extra: WrittenExtra = NO_EXTRA,
    { finishReason = null, logprobs }: { finishReason?: string | null; logprobs?: TokenLogprob[] } = {},
  ): string => {
    const choice = {
      index: 0,
      delta,
      logprobs: logprobs === undefined ? null : { content: logprobs },
      finish_reason: finishReason,
    };
    const begun = losslessBody({ ...frame, object: 'chat.completion.chunk', choices: [choice] }).slice(0, -1);
    const { text, sources } = extra;
    return textEvent(`${begun},"extra":${text},"delta":${losslessBody(delta)},"sources":${sources}}`);
  };
  const said = (delta: ShownDelta, extra: WrittenExtra = NO_EXTRA): string =>
    chunk(deltaOf(delta), extra, delta.logprobs === undefined ? {} : { logprobs: delta.logprobs });
  // That a client left, and the model was stopped for it, is no fault.
  const report = (error: AppError): void => {
    if (!signal.aborted) log.error({ err: error, code: error.code }, 'a chat stream broke off');
  };
  let held: ShownDelta | null = null;
  let ended = false;

  function* ending(end: ChatEnd): Generator<string> {
    const extra = writeExtra(chatExtra(end, link));
    if (held !== null) yield said(held, extra);
    held = null;
    yield chunk({}, extra, { finishReason: end.finishReason });
    if (end.error !== undefined) {
      report(end.error);
      yield errorEvent(end.error);
    } else if (includeUsage)
      yield dataEvent({
        ...frame,
        object: 'chat.completion.chunk',
        choices: [],
        usage: chatUsage(end),
        extra: {},
        delta: {},
        sources: [],
      });
  }

  try {
    yield chunk({ role: 'assistant', content: '' });
    for await (const next of withHeartbeats(first, rest, heartbeatMs)) {
      if (next === LATE) yield HEARTBEAT;
      else if (next.type === 'end') {
        ended = true;
        yield* ending(next);
      } else {
        if (held !== null) yield said(held);
        held = next;
      }
    }
    if (!ended) throw new AppError('INFERENCE_ERROR', 'The answer broke off.');
  } catch (thrown) {
    const error = errorFrom(thrown);
    report(error);
    const truncated = { ...NO_EXTRA, text: '{"truncated":true}' };
    yield held === null ? chunk({}, truncated) : said(held, truncated);
    yield errorEvent(error);
  } finally {
    // Also when the client left: the model must not go on generating.
    await rest.return();
  }
  yield DONE_EVENT;
}
