import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour, Purpose, RecordedRequest } from './behaviour.js';
import type { ScriptedModels, ScriptedToolCall } from './scripted-models.js';

export interface Talk {
  words: readonly string[];
  /** Asked for behind the words. */
  toolCall: ScriptedToolCall | null;
  behaviour: Behaviour | undefined;
  record: RecordedRequest;
  msPerWord: number;
  finish: 'stop' | 'length';
}

/** How a dialect writes what the server has to say. */
export interface Dialect {
  name: 'ollama' | 'openai' | 'reranker';
  routes: readonly { method: 'GET' | 'POST'; path: string; purpose: Purpose }[];
  list(response: ServerResponse): void;
  describe(response: ServerResponse, model: string): void;
  vectors(response: ServerResponse, vectors: readonly number[][]): void;
  reply(response: ServerResponse, content: string): void;
  stream(response: ServerResponse, talk: Talk): Promise<void>;
  refuse(response: ServerResponse, status: number, message: string): void;
  transcribe?(response: ServerResponse, body: Record<string, unknown>): void;
  rank?(response: ServerResponse, body: Record<string, unknown>, behaviour: Behaviour | undefined): void;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Words one by one until the behaviour strikes; true when the stream is to be finished properly. */
async function say(
  response: ServerResponse,
  { words, behaviour, record, msPerWord }: Talk,
  write: { word: (word: string) => string; broken: string; error: string },
): Promise<boolean> {
  const strikes = behaviour !== undefined && 'afterWords' in behaviour ? behaviour.afterWords : undefined;
  for (const [index, word] of words.entries()) {
    if (index === strikes) break;
    response.write(write.word(word));
    record.said += 1;
    await sleep(msPerWord);
    if (response.destroyed) return false;
  }
  if (strikes === undefined || behaviour?.kind === 'finish') return true;
  if (behaviour?.kind === 'broken-json') response.end(write.broken);
  if (behaviour?.kind === 'error') response.end(write.error);
  if (behaviour?.kind === 'no-finish') response.end();
  if (behaviour?.kind === 'cut') response.destroy();
  return false;
}

function errorOf({ behaviour }: Talk): string {
  return (behaviour?.kind === 'error' ? behaviour.message : undefined) ?? 'the runner has died';
}

const usage = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };

function openai(models: ScriptedModels): Dialect {
  return {
    name: 'openai',
    routes: [
      { method: 'GET', path: '/v1/models', purpose: 'models' },
      { method: 'POST', path: '/v1/embeddings', purpose: 'embed' },
      { method: 'POST', path: '/v1/chat/completions', purpose: 'chat' },
      { method: 'POST', path: '/v1/audio/transcriptions', purpose: 'transcribe' },
    ],
    list: (response) =>
      send(response, 200, {
        object: 'list',
        data: [models.embedder, models.llm, models.reranker, models.stt].map((id) => ({
          id,
          max_model_len: models.contextTokens,
        })),
      }),
    describe: () => undefined,
    transcribe(response, { model, response_format: format }) {
      const { segments } = models;
      const text = segments
        .map((segment) => segment.text)
        .join('')
        .trim();
      const end = segments.at(-1)?.end ?? 0;
      if (format === 'verbose_json' && !models.timed)
        return this.refuse(
          response,
          400,
          `response_format 'verbose_json' is not compatible with model '${String(model)}'. Use 'json' instead.`,
        );
      const times = { task: 'transcribe', language: 'english', duration: end, segments };
      send(response, 200, format === 'verbose_json' ? { ...times, text } : { text, usage });
    },
    vectors: (response, vectors) =>
      send(response, 200, {
        object: 'list',
        // Not in order: the index counts.
        data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse(),
        usage,
      }),
    reply: (response, content) =>
      send(response, 200, {
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage,
      }),
    async stream(response, talk) {
      const event = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`;
      const unfinished = talk.behaviour?.kind === 'no-finish' ? (talk.behaviour.finish ?? null) : null;
      const chunk = (delta: object, finish: string | null = unfinished): string =>
        event({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write(chunk({ role: 'assistant', content: '' }));
      const properly = await say(response, talk, {
        word: (content) => chunk({ content }),
        broken: 'data: {"choices": [{"delta\n\n',
        error: event({ error: { message: errorOf(talk), type: 'server_error' } }),
      });
      if (!properly) return;
      const { toolCall, behaviour } = talk;
      const finish = behaviour?.kind === 'finish' ? behaviour.reason : talk.finish;
      if (toolCall !== null) {
        // In deltas, as servers send them.
        const { name, arguments: given } = toolCall;
        const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } };
        response.write(chunk({ tool_calls: [call] }));
        for (const delta of JSON.stringify(given).match(/.{1,4}/gs) ?? [])
          response.write(chunk({ tool_calls: [{ index: 0, function: { arguments: delta } }] }));
      }
      response.write(chunk({}, toolCall === null ? finish : 'tool_calls'));
      response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`);
    },
    refuse: (response, status, message) =>
      send(response, status, { error: { message, type: 'invalid_request_error', param: null, code: null } }),
  };
}

function ollama(models: ScriptedModels): Dialect {
  return {
    name: 'ollama',
    routes: [
      { method: 'GET', path: '/api/version', purpose: 'models' },
      { method: 'GET', path: '/api/tags', purpose: 'models' },
      { method: 'POST', path: '/api/show', purpose: 'describe' },
      { method: 'POST', path: '/api/embed', purpose: 'embed' },
      { method: 'POST', path: '/api/chat', purpose: 'chat' },
    ],
    list: (response) =>
      send(response, 200, {
        version: '0.17.4',
        models: [models.embedder, models.llm].map((name) => ({ name: `${name}:latest`, details: {} })),
      }),
    describe: (response, model) => {
      const embeds = model.startsWith(models.embedder);
      const architecture = embeds ? 'bert' : 'llama';
      send(response, 200, {
        capabilities: embeds
          ? ['embedding']
          : ['completion', ...(model.startsWith(models.vlm) && models.sees ? ['vision'] : [])],
        model_info: {
          'general.architecture': architecture,
          [`${architecture}.context_length`]: models.contextTokens,
          'tokenizer.ggml.model': embeds ? models.tokenizer : 'gpt2',
        },
      });
    },
    vectors: (response, embeddings) => send(response, 200, { model: models.embedder, embeddings }),
    reply: (response, content) =>
      send(response, 200, {
        message: { role: 'assistant', content },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 11,
        eval_count: 5,
      }),
    async stream(response, talk) {
      const line = (body: unknown): string => `${JSON.stringify(body)}\n`;
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const properly = await say(response, talk, {
        word: (content) => line({ message: { role: 'assistant', content }, done: false }),
        broken: '{"message": {"role": "assis\n',
        error: line({ error: errorOf(talk) }),
      });
      if (!properly) return;
      if (talk.toolCall !== null) {
        const { times = 1, ...called } = talk.toolCall;
        for (const count of [1, times - 1].filter((calls) => calls > 0)) {
          const tool_calls = Array.from({ length: count }, () => ({ function: called }));
          response.write(line({ message: { role: 'assistant', content: '', tool_calls }, done: false }));
        }
      }
      const counts = { prompt_eval_count: 11, eval_count: 5 };
      response.end(
        line({
          message: { role: 'assistant', content: '' },
          done: true,
          done_reason: talk.finish,
          ...counts,
        }),
      );
    },
    refuse: (response, status, message) => send(response, status, { error: message }),
  };
}

/** Best first, as servers do, and not in the order of the texts. */
function ranking(models: ScriptedModels, query: string, texts: readonly string[], behaviour?: Behaviour) {
  const ranked = texts
    .map((text, index) => ({ index, score: models.rank(query, text) }))
    .sort((a, b) => b.score - a.score);
  if (behaviour?.kind !== 'ranking') return ranked;
  return behaviour.fault === 'short' ? ranked.slice(0, -1) : [...ranked.slice(0, -1), ranked[0]!];
}

/** Cohere's form under both of its paths, and that of text-embeddings-inference, told apart by what they are sent. */
function reranker(models: ScriptedModels): Dialect {
  const none = (): never => {
    throw new Error('a reranker only ranks');
  };
  return {
    name: 'reranker',
    routes: [
      { method: 'POST', path: '/rerank', purpose: 'rerank' },
      { method: 'POST', path: '/v1/rerank', purpose: 'rerank' },
      { method: 'GET', path: '/health', purpose: 'models' },
    ],
    list: (response) => void response.writeHead(200).end(),
    describe: none,
    vectors: none,
    reply: none,
    stream: none,
    refuse: (response, status, message) => send(response, status, { error: message }),
    rank(response, { query, texts, documents }, behaviour) {
      const ranked = ranking(models, String(query), (texts ?? documents) as string[], behaviour);
      if (texts !== undefined) return send(response, 200, ranked);
      const results = ranked.map(({ index, score }) => ({ index, relevance_score: score }));
      send(response, 200, { results, usage });
    },
  };
}

export function dialects(models: ScriptedModels): readonly Dialect[] {
  return [ollama(models), openai(models), reranker(models)];
}
