import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import type { ChatDelta, TokenLogprob } from '../../ports/models.js';
import { MessageContent, finishReasonOf, openAiUsage } from './answer-fields.js';
import { checkLine } from './model-exchange.js';
import type { ModelAnswer } from './model-exchange.js';
import { ProviderFailure, readAs } from './provider-failure.js';
import { gaveUp } from './refusal.js';

const StreamEvent = z.object({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: z.looseObject({ content: MessageContent }).nullish(),
        logprobs: z.object({ content: z.array(z.looseObject({ token: z.string() })).nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
});

function parseEvent(data: string): z.output<typeof StreamEvent> {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (error) {
    throw new ProviderFailure('bad-answer', 'the provider broke its stream with an event that is no JSON', {
      cause: error,
    });
  }
  return readAs(StreamEvent, event, 'stream event');
}

type Choice = NonNullable<z.output<typeof StreamEvent>['choices']>[number];

/** What a choice brings: its words, and whatever else stands in its delta. */
function deltaOf(choice: Choice): ChatDelta | null {
  const { content, role: _role, ...others }: Partial<NonNullable<Choice['delta']>> = choice.delta ?? {};
  const { text = '', thoughts = '' } = content ?? {};
  const fields = { ...(thoughts !== '' && { reasoning_content: thoughts }), ...others };
  const more = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  const logprobs: readonly TokenLogprob[] = choice.logprobs?.content ?? [];
  if (text === '' && Object.keys(more).length === 0 && logprobs.length === 0) return null;
  return {
    content: text,
    ...(Object.keys(more).length > 0 && { more }),
    ...(logprobs.length > 0 && { logprobs }),
  };
}

function failureIn(error: unknown): ProviderFailure {
  const inner = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return gaveUp(inner);
}

/** Takes the chunks of a stream of server-sent events, and answers the `data` of those that end in each, in order. */
function createEventReader() {
  let ended: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => ended.push(data) });
  // A character may be cut in two at the edge of a chunk.
  const decoder = new TextDecoder();
  let unread = 0;
  return (chunk: Buffer): string[] => {
    unread += chunk.length;
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (ended.length > 0) unread = 0;
    checkLine(unread);
    const events = ended;
    ended = [];
    return events;
  };
}

/** Some servers write '' where others write null, and a few of them at the end as well: alone it says nothing. */
function reasonBehind(before: string | undefined, said: string | null | undefined): string | undefined {
  return said === null || said === undefined || said === '' ? (before ?? said ?? undefined) : said;
}

/**
 * A streamed chat completion as deltas. Usage comes in an event of its own behind the finish, so the last delta is
 * given at the end of the stream. A stream that ends without a finish has been cut.
 * @param ask opens the exchange, once the first delta is wanted
 */
export async function* openAiDeltas(
  ask: () => Promise<ModelAnswer>,
): AsyncGenerator<ChatDelta, void, undefined> {
  const { contentType, chunks, discard } = await ask();
  if (contentType !== 'text/event-stream') {
    discard();
    throw new ProviderFailure(
      'bad-answer',
      `the provider answered '${contentType}' instead of a stream of events`,
    );
  }
  let reason: string | undefined;
  let isDone = false;
  let usage: Pick<ChatDelta, 'usage'> = {};
  const read = createEventReader();
  reading: for await (const chunk of chunks)
    for (const data of read(chunk)) {
      if (data === '[DONE]') {
        isDone = true;
        break reading;
      }
      const event = parseEvent(data);
      if (event.error !== undefined && event.error !== null) throw failureIn(event.error);
      if (event.usage !== undefined && event.usage !== null) usage = openAiUsage(event.usage);
      const choice = event.choices?.[0];
      if (choice === undefined) continue;
      const delta = deltaOf(choice);
      if (delta !== null) yield delta;
      reason = reasonBehind(reason, choice.finish_reason);
    }
  if (reason === undefined || (reason === '' && !isDone))
    throw new ProviderFailure('failed', 'the provider ended its answer without a finish');
  yield { content: '', finishReason: finishReasonOf(reason), ...usage };
}
