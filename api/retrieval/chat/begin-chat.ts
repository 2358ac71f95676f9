import type { ChatEvent, ChatRequest } from '../../../activities/retrieval/chat/chat-request.js';
import type { ChatService } from '../../../activities/retrieval/chat/chat-service.js';
import { AppError } from '../../../schemas/app-error.js';

export interface BegunChat {
  first: Promise<IteratorResult<ChatEvent, void>>;
  rest: AsyncGenerator<ChatEvent, void, undefined>;
}

/** What clients look for beside a prompt that is too long is its sentence alone. */
function plainWhenTooLong(error: unknown): unknown {
  return error instanceof AppError && error.code === 'CONTEXT_TOO_LONG'
    ? new AppError(error.code, error.message, { plain: true, cause: error })
    : error;
}

/** Starts an answer; what fails before its first event rejects `first`, and can be answered with its own status. */
export function beginChat(chat: ChatService, request: ChatRequest): BegunChat {
  const rest = chat.respond(request);
  const first = rest.next().then(
    (step) => {
      if (step.done === true) throw new AppError('INFERENCE_ERROR', 'The language model gave no answer.');
      return step;
    },
    (error: unknown) => {
      throw plainWhenTooLong(error);
    },
  );
  // Awaited later: a rejection before that must not count as unhandled.
  first.catch(() => undefined);
  return { first, rest };
}

export async function firstEvent({ first }: BegunChat): Promise<ChatEvent> {
  const step = await first;
  if (step.done === true) throw new AppError('INFERENCE_ERROR', 'The language model gave no answer.');
  return step.value;
}
