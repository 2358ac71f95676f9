import { Ollama } from 'ollama';
import type { ChatResponse } from 'ollama';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { VectorValues } from './answer-fields.js';
import type { ModelServer, ModelServerOptions, ModelDescription } from './model-server.js';
import { OllamaChunk, createOllamaReader, ollamaChatBody, wantsOneCall } from './ollama-chat.js';
import { ollamaFetch } from './ollama-fetch.js';
import { ProviderFailure, readAs } from './provider-failure.js';
import { gaveUp } from './refusal.js';
import { ollamaAddress } from './server-address.js';

const ListAnswer = z.object({ models: z.array(z.object({ name: z.string() })) });
const EmbedAnswer = z.object({ embeddings: z.array(VectorValues) });

/** What the library throws of its own: an `error` line in a stream, a stream without an end, broken JSON. */
function fromLibrary(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof ProviderFailure) return error;
  if (signal?.aborted === true) return signal.reason;
  // A rejected body reaches us as it was thrown, or as the cause of a TypeError.
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof ProviderFailure) return cause;
  if ((error as { name?: unknown } | null)?.name === 'SyntaxError')
    return new ProviderFailure('bad-answer', 'the provider answered broken JSON', { cause: error });
  return gaveUp(error instanceof Error ? error.message : error, error);
}

/** A server that speaks Ollama's own API, through its library. Source: github.com/ollama/ollama, docs/api.md. */
export function createOllamaServer(
  dispatcher: Dispatcher,
  { baseUrl, apiKey, timeoutMs }: ModelServerOptions,
): ModelServer {
  const { base, headers } = ollamaAddress(baseUrl, apiKey);

  /** One client a call: it holds nothing but the address and the call's signal. */
  const ask = async <T>(
    signal: AbortSignal | undefined,
    question: (client: Ollama) => Promise<T>,
  ): Promise<T> => {
    const fetch = ollamaFetch(dispatcher, timeoutMs, signal);
    try {
      return await question(new Ollama({ host: base, headers, fetch }));
    } catch (error) {
      throw fromLibrary(error, signal);
    }
  };

  return {
    provider: 'ollama',
    async models(signal) {
      const { models } = readAs(ListAnswer, await ask(signal, (client) => client.list()), 'list of models');
      return models.map(({ name }) => ({ name, contextTokens: null }));
    },
    async describe(model, signal) {
      return describeOllamaModel(await ask(signal, (client) => client.show({ model })));
    },
    async embed({ model, texts, windowTokens, threads }, signal) {
      const request = {
        model,
        input: [...texts],
        truncate: false,
        options: {
          ...(windowTokens !== null && { num_ctx: windowTokens }),
          ...(threads !== null && { num_thread: threads }),
        },
      };
      const answer = await ask(signal, (client) => client.embed(request));
      return readAs(EmbedAnswer, answer, 'list of embeddings').embeddings;
    },
    async *stream(call) {
      const { signal } = call.options;
      const body = ollamaChatBody(call);
      const read = createOllamaReader(wantsOneCall(call));
      const iterator = await ask(signal, (client) => client.chat({ ...body, stream: true }));
      let finished = false;
      try {
        for await (const part of iterator as AsyncIterable<ChatResponse>) {
          const chunk = readAs(OllamaChunk, part, 'stream');
          const delta = read(chunk);
          finished = chunk.done;
          if (finished || delta.content !== '' || delta.more !== undefined) yield delta;
        }
      } catch (error) {
        throw fromLibrary(error, signal);
      } finally {
        // Closes the connection, on which the server stops generating.
        if (!finished) iterator.abort();
      }
    },
    async complete(call) {
      const body = { ...ollamaChatBody(call), stream: false as const };
      const answer = await ask(call.options.signal, (client) => client.chat(body));
      const {
        content,
        usage,
        finishReason = 'stop',
      } = createOllamaReader()(readAs(OllamaChunk, answer, 'chat answer'));
      return { content, finishReason, ...(usage !== undefined && { usage }) };
    },
  };
}

const ShowAnswer = z.object({
  capabilities: z.array(z.string()).optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
});

const BERT = /bert/;

/**
 * What `/api/show` tells of a model. Ollama's WordPiece tokeniser breaks accented words and some signs (ollama issue
 * 15609), so its users must normalise; `tokenizer.ggml.model` names it `bert`. Models of the BERT family with another
 * tokeniser (bge-m3: `t5`) need nothing. Where no tokeniser is named the architecture decides.
 */
// eslint-disable-next-line complexity -- defaults of fields that servers leave out, one after the other
function describeOllamaModel(answer: unknown): ModelDescription {
  const { capabilities = [], model_info: info = {} } = readAs(ShowAnswer, answer, 'description of the model');
  const architecture = (info['general.architecture'] as string | undefined) ?? '';
  const context = info[`${architecture}.context_length`];
  const tokenizer = info['tokenizer.ggml.model'];
  const wordpiece = typeof tokenizer === 'string' ? tokenizer === 'bert' : BERT.test(architecture);
  const embeds = capabilities.includes('embedding') || (capabilities.length === 0 && BERT.test(architecture));
  const talks =
    capabilities.includes('completion') || (capabilities.length === 0 && !BERT.test(architecture));
  return {
    kind: embeds ? 'embedder' : talks ? 'llm' : null,
    sees: capabilities.length === 0 ? null : capabilities.includes('vision'),
    context_tokens: typeof context === 'number' && Number.isInteger(context) && context > 0 ? context : null,
    text_form: wordpiece ? 'wordpiece' : 'plain',
  };
}
