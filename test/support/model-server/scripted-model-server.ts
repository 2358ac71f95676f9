import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer, json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { misbehave } from './behaviour.js';
import type { Behaviour, Purpose, RecordedRequest } from './behaviour.js';
import { dialects } from './dialects.js';
import type { Dialect, Talk } from './dialects.js';
import { scriptedVector } from './scripted-vector.js';
import type { ScriptedModels } from './scripted-models.js';
import { endServer, listenOnLoopback } from '../loopback-server.js';

const DEFAULTS: ScriptedModels = {
  dimension: 48,
  windowWords: 400,
  maxBatch: 1000,
  tokenizer: 'bert',
  contextTokens: 512,
  promptWords: 100_000,
  embedder: 'scripted-embedder',
  llm: 'scripted-llm',
  apiKey: null,
  vlm: 'scripted-vlm',
  sees: true,
  reranker: 'scripted-reranker',
  stt: 'scripted-stt',
  segments: [{ start: 0, end: 2.5, text: ' The mill opens at nine.' }],
  timed: true,
  rank: (query, text) => (text.includes(query) ? 1 : 0),
  speaks: ['ollama', 'openai', 'reranker'],
  msPerWord: 0,
  finish: 'stop',
  toolCall: null,
  answer: () => 'The mill opens at nine.',
  vector: scriptedVector,
};

export type ScriptedModelServer = Awaited<ReturnType<typeof startScriptedModelServer>>;

/**
 * A model server on the loopback that speaks Ollama's API and the OpenAI format, does what a test tells it to, and
 * remembers what it was asked. Settings and behaviours can be changed while it runs.
 */
export async function startScriptedModelServer(settings: Partial<ScriptedModels> = {}) {
  const models: ScriptedModels = { ...DEFAULTS, ...settings };
  const requests: RecordedRequest[] = [];
  const script: Record<Purpose, Behaviour[]> = {
    embed: [],
    chat: [],
    models: [],
    describe: [],
    rerank: [],
    transcribe: [],
  };
  const always: Partial<Record<Purpose, { behaviour: Behaviour; of: string }>> = {};

  const listen = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const known = dialects(models)
      .filter(({ name }) => models.speaks.includes(name))
      .flatMap((dialect) => dialect.routes.map((route) => ({ dialect, ...route })))
      .find((route) => route.path === path && route.method === request.method);
    if (known === undefined) return void response.writeHead(404).end('404 page not found');
    const body = await readBody(request);
    const record: RecordedRequest = {
      purpose: known.purpose,
      dialect: known.dialect.name,
      path,
      headers: request.headers,
      body,
      aborted: false,
      said: 0,
    };
    requests.push(record);
    response.on('close', () => (record.aborted = !response.writableFinished));
    if (models.apiKey !== null && request.headers.authorization !== `Bearer ${models.apiKey}`)
      return known.dialect.refuse(response, 401, `Incorrect API key: ${request.headers.authorization ?? ''}`);
    const lasting = always[known.purpose];
    const isMeant = lasting !== undefined && JSON.stringify(body).includes(lasting.of);
    const behaviour = script[known.purpose].shift() ?? (isMeant ? lasting.behaviour : undefined);
    if (behaviour?.kind === 'delay') await sleep(behaviour.ms);
    if (misbehave(behaviour, response)) return;
    answer(known.dialect, known.purpose, body, behaviour, response, record);
  };

  const answer = (
    dialect: Dialect,
    purpose: Purpose,
    body: Record<string, unknown>,
    behaviour: Behaviour | undefined,
    response: ServerResponse,
    record: RecordedRequest,
  ): void => {
    const model = String(body['model'] ?? '');
    if (purpose === 'models') return dialect.list(response);
    if (purpose === 'rerank') return dialect.rank?.(response, body, behaviour);
    if (purpose === 'transcribe' && model === models.stt) return dialect.transcribe?.(response, body);
    if (![models.embedder, models.llm, models.vlm].includes(model.replace(/:latest$/, '')))
      return dialect.refuse(response, 404, `model '${model}' not found`);
    if (purpose === 'describe') return dialect.describe(response, model);
    if (purpose === 'embed') return embed(dialect, body, behaviour, response);
    const messages = (body['messages'] as { role: string; content: string | { text?: string }[] }[]).map(
      ({ role, content }) => ({
        role,
        content: typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n'),
      }),
    );
    if (wordsIn(messages.map(({ content }) => content).join(' ')) > models.promptWords)
      return dialect.refuse(response, 400, 'the prompt exceeds the context length');
    const words = models.answer(messages).match(/\s*\S+/g) ?? [];
    const { msPerWord, finish, toolCall } = models;
    const talk: Talk = { words, behaviour, record, msPerWord, finish, toolCall };
    if (body['stream'] === true) void dialect.stream(response, talk);
    else dialect.reply(response, words.join(''));
  };

  const embed = (
    dialect: Dialect,
    body: Record<string, unknown>,
    behaviour: Behaviour | undefined,
    response: ServerResponse,
  ): void => {
    const texts = [body['input']].flat() as string[];
    if (texts.length > models.maxBatch)
      return dialect.refuse(response, 400, `batch of ${texts.length} is more than ${models.maxBatch}`);
    if (texts.some((text) => wordsIn(text) > models.windowWords))
      return dialect.refuse(response, 400, 'the input length exceeds the context length');
    const odd: { dimension?: number; drop?: number } = behaviour?.kind === 'vectors' ? behaviour : {};
    const vectors = texts.map((text) => models.vector(text, odd.dimension ?? models.dimension));
    dialect.vectors(response, vectors.slice(0, vectors.length - (odd.drop ?? 0)));
  };

  const server = createServer((request, response) => void listen(request, response));
  const { url } = await listenOnLoopback(server);
  return {
    url,
    models,
    requests,
    /** What was asked for one purpose. */
    asked: (purpose: Purpose): RecordedRequest[] => requests.filter((one) => one.purpose === purpose),
    /** The next requests of a purpose meet these, one each. */
    next: (purpose: Purpose, ...behaviours: Behaviour[]): void => void script[purpose].push(...behaviours),
    /**
     * All requests of a purpose that meet no `next`; null: as they should be.
     * @param of those alone in whose body it stands
     */
    always: (purpose: Purpose, behaviour: Behaviour | null, of = ''): void => {
      if (behaviour === null) delete always[purpose];
      else always[purpose] = { behaviour, of };
    },
    /** Forgets what was asked and what is still to happen. */
    reset: (): void => {
      requests.length = 0;
      for (const purpose of Object.keys(script) as Purpose[]) {
        script[purpose].length = 0;
        delete always[purpose];
      }
    },
    close: () => endServer(server),
  };
}

function wordsIn(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** JSON, or the fields of a form; of a file its name, type and bytes. */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (request.method !== 'POST') return {};
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return (await json(request)) as Record<string, unknown>;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- small bodies of our own
  const form = await new Response(await buffer(request), { headers: { 'content-type': type } }).formData();
  const fields = await Promise.all(
    [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string'
        ? value
        : { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) },
    ]),
  );
  return Object.fromEntries(fields) as Record<string, unknown>;
}
