import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { ProviderFailure } from './provider-failure.js';
import { refusal } from './refusal.js';

/** So much of an error's body is read. */
const ERROR_BODY_BYTES = 64 * 1024;

export interface ModelRequest {
  dispatcher: Dispatcher;
  url: string;
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal | undefined;
  /** Longest silence, in milliseconds: until the answer begins, and between two chunks of it. */
  timeoutMs: number;
}

export interface ModelAnswer {
  status: number;
  contentType: string;
  /** The body; leaving it early closes the connection, which is how a generation is stopped. */
  chunks: AsyncGenerator<Buffer, void, undefined>;
  /** Closes the connection of an answer that will not be read. */
  discard(): void;
}

/** Why an exchange ended: our own watch, the caller, or the line. */
const reasonOf = (error: unknown, signal: AbortSignal | undefined, watch: AbortSignal): unknown => {
  if (error instanceof ProviderFailure) return error;
  if (watch.aborted) return watch.reason;
  if (signal?.aborted === true) return signal.reason;
  const code = (error as NodeJS.ErrnoException).code;
  const sentence = error instanceof Error && error.message !== '' ? error.message : String(code);
  return new ProviderFailure('connection', `the connection failed: ${sentence}`, { cause: error });
};

/** Aborts when nothing has come for so long. */
const watchSilence = (timeoutMs: number) => {
  const controller = new AbortController();
  const onSilence = (): void =>
    controller.abort(new ProviderFailure('timeout', `no word within ${timeoutMs / 1000} s`));
  let timer = setTimeout(onSilence, timeoutMs);
  const stop = (): void => clearTimeout(timer);
  return {
    signal: controller.signal,
    /** Starts the count anew. */
    heard: () => {
      stop();
      timer = setTimeout(onSilence, timeoutMs);
    },
    stop,
  };
};

const readStart = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= ERROR_BODY_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
};

/**
 * One request to a model server. A refusal is thrown with what the server said; redirects are not followed, so that
 * a key never travels on. The caller's own abort comes out as its signal's reason.
 * @throws ProviderFailure
 */
export const openExchange = async (asked: ModelRequest): Promise<ModelAnswer> => {
  const { dispatcher, url, method = 'GET', headers = {}, body, signal, timeoutMs } = asked;
  signal?.throwIfAborted();
  const watch = watchSilence(timeoutMs);
  const either = signal === undefined ? watch.signal : AbortSignal.any([signal, watch.signal]);
  try {
    const response = await request(url, {
      ...{ dispatcher, method, headers, signal: either, body: body ?? null },
      // The watch is the only clock: undici's own know no difference between thinking and silence.
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    });
    watch.heard();
    const header = (name: string): string => String(response.headers[name] ?? '');
    if (response.statusCode < 200 || response.statusCode > 299)
      throw refusal(
        response.statusCode,
        await readStart(response.body),
        header('retry-after') || undefined,
        Date.now(),
      );
    return {
      status: response.statusCode,
      contentType: header('content-type').split(';')[0]?.trim().toLowerCase() ?? '',
      chunks: relay(response.body, watch, signal),
      discard() {
        watch.stop();
        response.body.on('error', () => undefined).destroy();
      },
    };
  } catch (error) {
    watch.stop();
    throw reasonOf(error, signal, watch.signal);
  }
};

async function* relay(
  body: AsyncIterable<Buffer>,
  watch: ReturnType<typeof watchSilence>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of body) {
      // A reader that takes its time is no silence of the server's.
      watch.stop();
      yield chunk;
      watch.heard();
    }
  } catch (error) {
    throw reasonOf(error, signal, watch.signal);
  } finally {
    watch.stop();
  }
}

/** A whole JSON answer. @throws ProviderFailure `bad-answer` when it is none */
export const readJson = async (answer: ModelAnswer): Promise<unknown> => {
  if (!/^application\/(?:.+\+)?json$/.test(answer.contentType)) {
    answer.discard();
    throw new ProviderFailure('bad-answer', `the provider answered '${answer.contentType}' instead of JSON`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of answer.chunks) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch (error) {
    throw new ProviderFailure('bad-answer', 'the provider answered broken JSON', { cause: error });
  }
};
