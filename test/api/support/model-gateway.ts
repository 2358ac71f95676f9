import { openModels } from '../../support/model-server/open-models.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import { startGateway } from './start-gateway.js';
import type { Gateway, GatewayOptions } from './start-gateway.js';

/** A gateway whose language model is behind a scripted server; the embedder is the built-in one. */
export async function startModelGateway(
  server: Pick<ScriptedModelServer, 'url' | 'models'>,
  options: Omit<GatewayOptions, 'adapt'> & { provider?: 'ollama' | 'openai' } = {},
): Promise<Gateway> {
  const { provider = 'openai', ...rest } = options;
  const env = {
    BASE_URL: server.url,
    MODEL: server.models.llm,
    LLM_PROVIDER: provider,
    ...rest.env,
  };
  const opened = await openModels(env);
  const gateway = await startGateway({
    ...rest,
    env,
    adapt: (adapters) => ({ ...adapters, models: opened.registry }),
  });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await opened.close();
    },
  };
}

/** Sends a chat request and gives the whole of what came back. */
export async function ask(
  gateway: Gateway,
  body: object,
  signal?: AbortSignal,
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await gateway.call('POST', '/v1/chat/completions', {
    body: JSON.stringify({ messages: [{ role: 'user', content: 'When does the mill open?' }], ...body }),
    headers: { 'Content-Type': 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

interface Chunk {
  choices: { delta: { content?: string } & Record<string, unknown>; finish_reason: string | null }[];
  extra: Record<string, unknown>;
  error?: { code: string };
}

/** The events of a stream that is well-formed to its end; comments are left out. */
export function readEvents(text: string): { chunks: Chunk[]; content: string; error: string | null } {
  const events = text
    .replace(/^:[^\n]*\n\n/gm, '')
    .replace(/\n\n$/, '')
    .split('\n\n');
  if (events.some((event) => !/^data: [^\n]+$/.test(event))) throw new Error(`not a stream: ${text}`);
  if (events.pop() !== 'data: [DONE]') throw new Error(`a stream without an end: ${text.slice(-300)}`);
  const chunks = events.map((event) => JSON.parse(event.slice(6)) as Chunk);
  const told = chunks.find(({ error }) => error !== undefined)?.error;
  const words = chunks.filter(({ error }) => error === undefined);
  return {
    chunks: words,
    content: words.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    error: told?.code ?? null,
  };
}
