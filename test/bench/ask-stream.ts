import { request } from 'undici';
import type { Agent } from 'undici';

/** In a stream of either form. While a model is slow to begin, deltas without a word keep our connections open. */
export const FIRST_WORD = /"content":"[^"]/;

/**
 * Asks a partition for a streamed answer, and answers when it has ended with the milliseconds until its first word.
 * @param options.onFirst what is done at the first word; the client leaves when it answers 'leave'
 * @throws Error when the chat fails, or its stream ends early
 */
export async function askStream(
  { base, token }: { base: string; token: string },
  partition: string,
  text: string,
  { dispatcher, onFirst }: { dispatcher: Agent; onFirst?: () => 'leave' | 'stay' },
): Promise<number> {
  const from = performance.now();
  const { statusCode, body } = await request(`${base}/v1/chat/completions`, {
    method: 'POST',
    dispatcher,
    bodyTimeout: 0,
    headersTimeout: 0,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `rag-${partition}`,
      stream: true,
      messages: [{ role: 'user', content: text }],
    }),
  });
  if (statusCode !== 200) throw new Error(`chat answered ${statusCode} ${await body.text()}`);
  let first = NaN;
  let received = '';
  body.setEncoding('utf8');
  for await (const chunk of body as AsyncIterable<string>) {
    received += chunk;
    if (Number.isNaN(first) && FIRST_WORD.test(received)) {
      first = performance.now() - from;
      if (onFirst?.() === 'leave') {
        body.destroy();
        return first;
      }
    }
  }
  if (!received.endsWith('data: [DONE]\n\n'))
    throw new Error(`a stream ended early: ${received.slice(-200)}`);
  return first;
}
