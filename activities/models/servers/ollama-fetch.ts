import type { Dispatcher } from 'undici';
import { checkLine, openExchange } from './model-exchange.js';
import { ProviderFailure } from './provider-failure.js';

/** NDJSON with any line that is no JSON made an error: the client library would skip it with a line on the console. */
async function* intactLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    checkLine(rest.length);
    lines.forEach(assertJson);
    if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
  }
  assertJson(rest);
  yield Buffer.from(rest);
}

function assertJson(line: string): void {
  if (line.trim() === '') return;
  try {
    JSON.parse(line);
  } catch (error) {
    throw new ProviderFailure('bad-answer', 'the provider broke its stream with a line that is no JSON', {
      cause: error,
    });
  }
}

/**
 * The `fetch` that the Ollama library is given: our transport, with its watch over silence and its errors. The
 * library takes a signal for streams only, so one for everything is closed over here.
 */
export function ollamaFetch(
  dispatcher: Dispatcher,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): typeof fetch {
  return async (input, init = {}) => {
    const signals = [signal, init.signal].filter((one) => one != null);
    const answer = await openExchange({
      dispatcher,
      timeoutMs,
      url: input instanceof Request ? input.url : input.toString(),
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers: init.headers as Record<string, string>,
      ...(typeof init.body === 'string' && { body: init.body }),
      signal: signals.length === 0 ? undefined : AbortSignal.any(signals),
    });
    // The library gives a signal of its own to streams alone.
    const streamed = init.signal != null;
    if (!['application/x-ndjson', 'application/json'].includes(answer.contentType)) {
      answer.discard();
      throw new ProviderFailure(
        'bad-answer',
        `the provider answered '${answer.contentType}' instead of JSON`,
      );
    }
    // Types of the DOM and of Node differ in name only.
    const body = ReadableStream.from(streamed ? intactLines(answer.chunks) : answer.chunks);
    return new Response(body as never, {
      status: answer.status,
      headers: { 'content-type': answer.contentType },
    });
  };
}
