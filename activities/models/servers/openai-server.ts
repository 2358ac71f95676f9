import { stringify } from 'lossless-json';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { ChatMessage } from '../../ports/models.js';
import {
  MessageContent,
  VectorValues,
  finishReasonOf,
  openAiUsage,
  refuseServerFields,
} from './answer-fields.js';
import { openExchange, readJson } from './model-exchange.js';
import type { ModelAnswer } from './model-exchange.js';
import type { ChatCall, ModelServer, ModelServerOptions } from './model-server.js';
import { openAiDeltas } from './openai-stream.js';
import { ProviderFailure, readAs } from './provider-failure.js';
import { openAiAddress } from './server-address.js';

const tokens = z.int().positive().optional().catch(undefined);

/** Servers add the window under names of their own: vLLM, OpenRouter and LM Studio, llama.cpp's proxy. */
const ModelsAnswer = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      max_model_len: tokens,
      context_length: tokens,
      max_context_length: tokens,
      context_window: tokens,
    }),
  ),
});

const EmbeddingsAnswer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: VectorValues })),
});

const ChatAnswer = z.object({
  choices: z.tuple([
    z.object({
      message: z.object({ content: MessageContent }),
      finish_reason: z.string().nullish(),
    }),
  ]),
  usage: z.unknown().optional(),
});

/** Pictures go as data URIs behind the text, in parts of one content. */
function contentOf({ content, pictures = [] }: ChatMessage): unknown {
  return pictures.length === 0
    ? content
    : [
        { type: 'text', text: content },
        ...pictures.map(({ mimetype, bytes }) => ({
          type: 'image_url',
          image_url: { url: `data:${mimetype};base64,${bytes.toString('base64')}` },
        })),
      ];
}

/** How long LM Studio keeps a model loaded, and whom vLLM serves first. */
const OF_THE_SERVER = ['ttl', 'priority'];

/**
 * What we do not know of a request goes along; what we set wins.
 * @throws AppError BAD_REQUEST for a field that affects the server's other clients
 */
function chatBody({ model, messages, options }: ChatCall): Record<string, unknown> {
  refuseServerFields(options.more, OF_THE_SERVER);
  return {
    ...options.more,
    model,
    messages: messages.map((message) => ({
      ...message.more,
      role: message.role,
      content: contentOf(message),
    })),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.topP !== undefined && { top_p: options.topP }),
    ...(options.maxTokens !== undefined && { max_tokens: options.maxTokens }),
    ...(options.stop !== undefined && options.stop.length > 0 && { stop: options.stop }),
  };
}

/** How models that reason refuse what every other one takes (OpenAI, Azure). */
const UNSUPPORTED = /unsupported (?:parameter|value): '(max_tokens|temperature|top_p)'/i;
/** Overrides may name any number of models. */
const MAX_MODELS = 100;

/** The field that a server refuses for this model; undefined where it refuses something else. */
function unsupportedField(error: unknown): string | undefined {
  if (!(error instanceof ProviderFailure) || error.kind !== 'refused') return undefined;
  return UNSUPPORTED.exec(error.message)?.[1]?.toLowerCase();
}

/** A request without the fields that its model refuses; the limit of tokens goes by its newer name. */
function withoutFields(body: Record<string, unknown>, fields: ReadonlySet<string>): Record<string, unknown> {
  const entries = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    if (!fields.has(name)) return [[name, value]];
    return name === 'max_tokens' ? [['max_completion_tokens', value]] : [];
  });
  return Object.fromEntries(entries);
}

/** A server that speaks the OpenAI format. Source: platform.openai.com/docs/api-reference. */
export function createOpenAiServer(
  dispatcher: Dispatcher,
  { baseUrl, apiKey, timeoutMs, limits }: ModelServerOptions,
): ModelServer {
  const { base, headers } = openAiAddress(baseUrl, apiKey);

  const get = async (path: string, signal: AbortSignal | undefined): Promise<unknown> =>
    readJson(await openExchange({ dispatcher, url: `${base}${path}`, headers, signal, timeoutMs, limits }));

  const post = (path: string, body: object, signal: AbortSignal | undefined): Promise<ModelAnswer> =>
    openExchange({
      dispatcher,
      url: `${base}${path}`,
      method: 'POST',
      signal,
      timeoutMs,
      limits,
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      // An integer beyond 2^53 in a client's field stays what it is.
      body: stringify(body) ?? '{}',
    });

  /** By model, what it was found to refuse. */
  const refused = new Map<string, Set<string>>();

  /** Asked again without a field that the model refuses, of which no list tells. */
  const chat = async (call: ChatCall, more: object = {}): Promise<ModelAnswer> => {
    const fields = refused.get(call.model) ?? new Set();
    for (;;) {
      const body = { ...withoutFields(chatBody(call), fields), ...more };
      try {
        return await post('/chat/completions', body, call.options.signal);
      } catch (error) {
        const field = unsupportedField(error);
        if (field === undefined || !(field in body)) throw error;
        fields.add(field);
        if (refused.size >= MAX_MODELS) refused.clear();
        refused.set(call.model, fields);
      }
    }
  };

  const models: ModelServer['models'] = async (signal) => {
    const { data } = readAs(ModelsAnswer, await get('/models', signal), 'list of models');
    return data.map(({ id, ...window }) => ({
      name: id,
      contextTokens:
        window.max_model_len ??
        window.context_length ??
        window.max_context_length ??
        window.context_window ??
        null,
    }));
  };

  return {
    provider: 'openai',
    models,
    async describe(model, signal) {
      // Some servers of one model have no list; a server that is known by its list alone tells nothing else.
      const list = await models(signal).catch((error: unknown) => {
        if (error instanceof ProviderFailure && error.kind === 'unknown-model') return [];
        throw error;
      });
      const context = list.find(({ name }) => name === model)?.contextTokens ?? null;
      return { kind: null, sees: null, context_tokens: context, text_form: 'plain' };
    },
    async embed({ model, texts }, signal) {
      const body = { model, input: texts, encoding_format: 'float' };
      const answer = await readJson(await post('/embeddings', body, signal));
      const { data } = readAs(EmbeddingsAnswer, answer, 'list of embeddings');
      return [...data].sort((a, b) => a.index - b.index).map(({ embedding }) => embedding);
    },
    stream: (call) =>
      openAiDeltas(() => chat(call, { stream: true, stream_options: { include_usage: true } })),
    async complete(call) {
      const answer = await readJson(await chat(call));
      const { choices, usage } = readAs(ChatAnswer, answer, 'chat completion');
      return {
        content: choices[0].message.content.text,
        finishReason: finishReasonOf(choices[0].finish_reason ?? 'stop'),
        ...openAiUsage(usage),
      };
    },
  };
}
