import type { ChatEvent } from '../../activities/retrieval/chat-service.js';
import { AppError } from '../../schemas/app-error.js';
import type { ChatExtra } from '../../schemas/documents-api.js';
import { errorFrom } from '../error-from.js';
import type { Logger } from '../logger.js';
import { losslessBody } from '../lossless-body.js';
import { chatExtra, chatUsage } from './chat-answer.js';
import type { ChatEnd, ChatFrame } from './chat-answer.js';
import type { Links } from './links.js';

interface Delta {
  role?: 'assistant';
  content?: string;
}

export interface ChatStreamOptions {
  frame: ChatFrame;
  link: Links;
  log: Logger;
  includeUsage: boolean;
  /** Aborted when the client has left. */
  signal: AbortSignal;
}

const event = (data: unknown): string => `data: ${losslessBody(data)}\n\n`;
const DONE = 'data: [DONE]\n\n';

const errorEvent = ({ code, message }: AppError): string =>
  event({ error: { message, type: 'error', param: null, code } });

/**
 * The answer as server-sent events (wire contract, section 1.9): a role chunk, content chunks, the last of which
 * carries the complete `extra`, a finish chunk, `[DONE]`. Each chunk also has a top-level `delta` and `sources`, for
 * clients written after the simplified description. One delta is held back, since only the end tells the last.
 *
 * @param first an event that was awaited already, so that what fails before the answer begins gets its own status
 */
export async function* chatStream(
  first: ChatEvent,
  rest: AsyncGenerator<ChatEvent, void, undefined>,
  { frame, link, log, includeUsage, signal }: ChatStreamOptions,
): AsyncGenerator<string> {
  const chunk = (delta: Delta, extra: ChatExtra | object = {}, finishReason: string | null = null): string =>
    event({
      ...frame,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      extra,
      delta,
      sources: 'sources' in extra ? extra.sources : [],
    });
  // That a client left, and the model was stopped for it, is no fault.
  const report = (error: AppError): void => {
    if (!signal.aborted) log.error({ err: error, code: error.code }, 'a chat stream broke off');
  };
  let held: string | null = null;

  function* ending(end: ChatEnd): Generator<string> {
    const extra = chatExtra(end, link);
    if (held !== null) yield chunk({ content: held }, extra);
    held = null;
    yield chunk({}, extra, end.finishReason);
    if (end.error !== undefined) {
      report(end.error);
      yield errorEvent(end.error);
    } else if (includeUsage)
      yield event({
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
    for (let next = first; ;) {
      if (next.type === 'end') {
        yield* ending(next);
        break;
      }
      if (held !== null) yield chunk({ content: held });
      held = next.content;
      const step = await rest.next();
      if (step.done === true) throw new AppError('INFERENCE_ERROR', 'The answer broke off.');
      next = step.value;
    }
  } catch (thrown) {
    const error = errorFrom(thrown);
    report(error);
    if (held !== null) yield chunk({ content: held }, { truncated: true });
    yield errorEvent(error);
  } finally {
    // Also when the client left: the model must not go on talking to nobody.
    await rest.return();
  }
  yield DONE;
}
