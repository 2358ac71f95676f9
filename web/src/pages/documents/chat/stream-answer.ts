import { ApiError } from '../../../api/api-error';
import { send, unreachableError } from '../../../api/client';
import type { Scope } from './scope';
import type { components } from '../../../api/schema.gen';

export type ChatExtra = components['schemas']['ChatExtra'];
export type Source = components['schemas']['SourceEntry'];

export interface Turn {
  role: 'user' | 'assistant';
  content: string;
}

interface StreamChunk {
  id?: string;
  choices?: { delta?: { content?: string }; finish_reason?: string | null }[];
  extra?: ChatExtra | Record<string, never>;
  error?: { message: string; code: string | null };
}

/** The data of server-sent events, as they come in. */
async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: Error) => {
        throw error.name === 'AbortError' ? error : unreachableError();
      });
      if (done) return;
      const events = (rest + value).split(/\r?\n\r?\n/);
      rest = events.pop() ?? '';
      for (const event of events) {
        const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
        if (lines.length > 0) yield lines.map((line) => line.slice(5).trimStart()).join('\n');
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

function hasSources(extra: StreamChunk['extra']): extra is ChatExtra {
  return extra !== undefined && 'sources' in extra;
}

/**
 * Asks and hands on each piece of the answer.
 * @throws ApiError; what the fetch throws when `signal` aborts
 */
export async function streamAnswer(
  question: { scope: Scope; preset: string | null; messages: readonly Turn[] },
  on: {
    content: (text: string) => void;
    extra: (extra: ChatExtra) => void;
    /** The name of the answer, and whether it ended because it may not be longer. */
    end: (answerId: string, cut: boolean) => void;
  },
  signal: AbortSignal,
): Promise<void> {
  const { scope, preset, messages } = question;
  const { partition, workspace, file_id } = scope;
  const response = await send('/v1/chat/completions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      model: partition === null ? 'partition-all' : `rag-${partition}`,
      messages,
      stream: true,
      metadata: { workspace, file_id, preset },
    }),
    signal,
  });
  if (response.body === null) throw unreachableError();
  for await (const data of eventData(response.body)) {
    if (data === '[DONE]') return;
    const chunk = JSON.parse(data) as StreamChunk;
    if (chunk.error !== undefined) throw new ApiError(502, chunk.error.code, chunk.error.message);
    const [choice] = chunk.choices ?? [];
    const text = choice?.delta?.content;
    if (text !== undefined && text !== '') on.content(text);
    if (hasSources(chunk.extra)) on.extra(chunk.extra);
    if (choice?.finish_reason != null) on.end(chunk.id ?? '', choice.finish_reason === 'length');
  }
  // The end was not said: the line broke.
  throw unreachableError();
}
