import type { MoreFields, TokenLogprob } from '../../../activities/ports/models.js';
import type { ChatEnd, ChatEvent } from '../../../activities/retrieval/chat/chat-request.js';
import { AppError } from '../../../schemas/app-error.js';

export interface CollectedAnswer {
  content: string;
  /** Calls of tools, reasoning and the like, put together from their deltas. */
  more: Record<string, unknown>;
  logprobs: TokenLogprob[];
  end: ChatEnd;
}

interface ToolCallDelta {
  index?: number;
  function?: { name?: string; arguments?: string };
  [field: string]: unknown;
}

function addToolCalls(calls: ToolCallDelta[], deltas: readonly ToolCallDelta[]): void {
  for (const { index = calls.length, function: delta, ...others } of deltas) {
    const call = (calls[index] ??= {});
    // Some servers repeat the fields of a call without a value.
    for (const [field, value] of Object.entries(others))
      if (value != null && value !== '') call[field] = value;
    call.function = {
      name: `${call.function?.name ?? ''}${delta?.name ?? ''}`,
      arguments: `${call.function?.arguments ?? ''}${delta?.arguments ?? ''}`,
    };
  }
}

/** In the order of their numbers, which some servers count from 1 or leave gaps in: a gap would be answered as null. */
function withoutGaps(more: Record<string, unknown>): Record<string, unknown> {
  const { tool_calls: calls } = more;
  return Array.isArray(calls) ? { ...more, tool_calls: Object.values(calls) } : more;
}

const MAX_TOOL_CALLS = 128;

type Fields = Record<string, unknown>;

/** Fields of a part of a list that come piece by piece, and those of other objects. */
const PART_PIECES: ReadonlySet<string> = new Set(['text', 'summary', 'thinking', 'data']);
const PIECES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['function_call', new Set(['name', 'arguments'])],
  ['audio', new Set(['data', 'transcript'])],
]);

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(known: Fields, delta: Fields, pieces: ReadonlySet<string>): Fields {
  const joined = { ...known };
  for (const [field, value] of Object.entries(delta)) {
    const before = joined[field];
    if (pieces.has(field) && typeof before === 'string' && typeof value === 'string')
      joined[field] = before + value;
    else if (value != null || before === undefined) joined[field] = value;
  }
  return joined;
}

/** The parts of a list come one after another; one of the same index and type goes on with the last. */
function addParts(list: unknown[], parts: readonly unknown[]): void {
  for (const part of parts) {
    const last = list.at(-1);
    const goesOn =
      isFields(part) &&
      isFields(last) &&
      typeof part['index'] === 'number' &&
      part['index'] === last['index'] &&
      part['type'] === last['type'];
    if (goesOn) list[list.length - 1] = join(last, part, PART_PIECES);
    else list.push(part);
  }
}

function add(whole: Fields, more: MoreFields): void {
  for (const [name, value] of Object.entries(more)) {
    const known = whole[name];
    const pieces = PIECES.get(name);
    if (name === 'tool_calls' && Array.isArray(value)) {
      const deltas = (value as ToolCallDelta[]).filter(
        ({ index = 0 }) => index >= 0 && index < MAX_TOOL_CALLS,
      );
      addToolCalls((whole[name] ??= []) as ToolCallDelta[], deltas);
    } else if (Array.isArray(value) && (known === undefined || Array.isArray(known)))
      addParts((whole[name] ??= []) as unknown[], value);
    else if (pieces !== undefined && isFields(known) && isFields(value))
      whole[name] = join(known, value, pieces);
    else if (typeof known === 'string' && typeof value === 'string') whole[name] = known + value;
    else whole[name] = value;
  }
}

/**
 * The whole of an answer that is not streamed. Nothing has been answered yet, so a broken one can still be
 * told by its status.
 * @throws AppError what broke it
 */
export async function collectAnswer(
  first: ChatEvent,
  rest: AsyncGenerator<ChatEvent, void, undefined>,
): Promise<CollectedAnswer> {
  const answer: Omit<CollectedAnswer, 'end'> = { content: '', more: {}, logprobs: [] };
  for (let next = first; ;) {
    if (next.type === 'end') {
      if (next.error !== undefined) throw next.error;
      return { ...answer, more: withoutGaps(answer.more), end: next };
    }
    answer.content += next.content;
    answer.logprobs.push(...(next.logprobs ?? []));
    add(answer.more, next.more ?? {});
    const step = await rest.next();
    if (step.done === true) throw new AppError('INFERENCE_ERROR', 'The answer broke off.');
    next = step.value;
  }
}
