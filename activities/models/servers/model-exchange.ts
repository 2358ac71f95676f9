import { Readable } from 'node:stream';
import { request } from 'undici';
import type { Dispatcher, FormData } from 'undici';
import { readStart, readWhole } from '../../outbound/read-body.js';
import { ProviderFailure } from './provider-failure.js';
import { refusal } from './refusal.js';

/** So much of an error's body is read. */
const ERROR_BODY_BYTES = 64 * 1024;

const MIB = 1024 * 1024;

/** What one answer of a model server may be. */
export interface AnswerLimits {
  /** Bytes of an answer that is read as a whole, and of one that is streamed. */
  wholeBytes: number;
  streamBytes: number;
  /** Milliseconds from the question to the end of the answer; null: as long as the server goes on. */
  totalMs: number | null;
}

/** For servers that an operator chose. The vectors of a large batch take some 20 MiB as JSON. */
const OWN_LIMITS: AnswerLimits = { wholeBytes: 128 * MIB, streamBytes: 256 * MIB, totalMs: null };
/** For servers that a client named. */
export const FOREIGN_LIMITS: AnswerLimits = {
  wholeBytes: 4 * MIB,
  streamBytes: 16 * MIB,
  totalMs: 600_000,
};

/** So many characters of one line, or of one event of several lines. */
const MAX_LINE = MIB;

/** @throws ProviderFailure when so much has come without an end of the line, or of the event */
export function checkLine(length: number): void {
  if (length > MAX_LINE)
    throw new ProviderFailure('bad-answer', `the provider sent a line of more than ${MAX_LINE} characters`);
}

/** A shorter body is left to undici. */
const HELD_CHARACTERS = 2048;

export interface ModelRequest {
  dispatcher: Dispatcher;
  url: string;
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | FormData;
  signal?: AbortSignal | undefined;
  /** Longest silence, in milliseconds: until the answer begins, and between two chunks of it. */
  timeoutMs: number;
  limits?: AnswerLimits | undefined;
}

export interface ModelAnswer {
  status: number;
  contentType: string;
  limits: AnswerLimits;
  /** The body; leaving it early closes the connection, which is how a generation is stopped. */
  chunks: AsyncGenerator<Buffer, void, undefined>;
  /** Closes the connection of an answer that will not be read. */
  discard(): void;
}

/** Why an exchange ended: our own watch, the caller, or the line. */
function reasonOf(error: unknown, signal: AbortSignal | undefined, watch: AbortSignal): unknown {
  if (error instanceof ProviderFailure) return error;
  if (watch.aborted) return watch.reason;
  if (signal?.aborted === true) return signal.reason;
  const code = (error as NodeJS.ErrnoException).code;
  const sentence = error instanceof Error && error.message !== '' ? error.message : String(code);
  return new ProviderFailure('connection', `the connection failed: ${sentence}`, { cause: error });
}

/** Aborts when nothing has come for so long. */
function watchSilence(timeoutMs: number, totalMs: number | null) {
  const controller = new AbortController();
  const onEnd = (): void =>
    controller.abort(
      new ProviderFailure('timeout', `no end of the answer within ${(totalMs ?? 0) / 1000} s`),
    );
  const end = totalMs === null ? undefined : setTimeout(onEnd, totalMs);
  const onSilence = (): void =>
    controller.abort(new ProviderFailure('timeout', `no word within ${timeoutMs / 1000} s`));
  let timer = setTimeout(onSilence, timeoutMs);
  const pause = (): void => clearTimeout(timer);
  return {
    signal: controller.signal,
    /** Starts the count anew. */
    heard: () => {
      pause();
      timer = setTimeout(onSilence, timeoutMs);
    },
    pause,
    stop: () => {
      pause();
      clearTimeout(end);
    },
  };
}

/**
 * undici holds a body until its answer has ended, as text and as bytes: where a long prompt is answered by a stream,
 * for minutes. As a stream of its own it is let go once it is sent.
 */
function bodyOf(
  body: ModelRequest['body'],
  headers: Readonly<Record<string, string>>,
): Pick<Dispatcher.RequestOptions, 'body' | 'headers'> {
  if (typeof body !== 'string' || body.length < HELD_CHARACTERS) return { body: body ?? null, headers };
  const bytes = Buffer.from(body);
  const stream = new Readable({ read: () => undefined });
  stream.push(bytes);
  stream.push(null);
  // Without its length it would go out in chunks, which some servers do not take.
  return { body: stream, headers: { ...headers, 'content-length': String(bytes.length) } };
}

/**
 * One request to a model server. A refusal is thrown with what the server said; redirects are not followed, so that
 * a key never travels on. The caller's own abort comes out as its signal's reason.
 * @throws ProviderFailure
 */
export async function openExchange(asked: ModelRequest): Promise<ModelAnswer> {
  const { dispatcher, url, method = 'GET', headers = {}, body, signal, timeoutMs } = asked;
  const { limits = OWN_LIMITS } = asked;
  signal?.throwIfAborted();
  const watch = watchSilence(timeoutMs, limits.totalMs);
  const either = signal === undefined ? watch.signal : AbortSignal.any([signal, watch.signal]);
  try {
    const response = await request(url, {
      dispatcher,
      method,
      ...bodyOf(body, headers),
      signal: either,
      // The watch is the only clock: undici's own know no difference between thinking and silence.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    watch.heard();
    const header = (name: string): string => String(response.headers[name] ?? '');
    if (response.statusCode < 200 || response.statusCode > 299)
      throw refusal(
        response.statusCode,
        (await readStart(response.body, ERROR_BODY_BYTES)).toString('utf8'),
        header('retry-after') || undefined,
        Date.now(),
      );
    return {
      status: response.statusCode,
      contentType: header('content-type').split(';')[0]?.trim().toLowerCase() ?? '',
      limits,
      chunks: relay(response.body, watch, signal, limits.streamBytes),
      discard() {
        watch.stop();
        response.body.on('error', () => undefined).destroy();
      },
    };
  } catch (error) {
    watch.stop();
    throw reasonOf(error, signal, watch.signal);
  }
}

async function* relay(
  body: AsyncIterable<Buffer>,
  watch: ReturnType<typeof watchSilence>,
  signal: AbortSignal | undefined,
  most: number,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > most) throw tooMuch(most);
      // A reader that takes its time is no silence of the server's.
      watch.pause();
      yield chunk;
      watch.heard();
    }
  } catch (error) {
    throw reasonOf(error, signal, watch.signal);
  } finally {
    watch.stop();
  }
}

function tooMuch(most: number): ProviderFailure {
  return new ProviderFailure('bad-answer', `the provider answered more than ${most / MIB} MiB`);
}

/** A whole JSON answer. @throws ProviderFailure `bad-answer` when it is none */
export async function readJson(answer: ModelAnswer): Promise<unknown> {
  if (!/^application\/(?:.+\+)?json$/.test(answer.contentType)) {
    answer.discard();
    throw new ProviderFailure('bad-answer', `the provider answered '${answer.contentType}' instead of JSON`);
  }
  const { wholeBytes } = answer.limits;
  const body = await readWhole(answer.chunks, wholeBytes, () => tooMuch(wholeBytes));
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    throw new ProviderFailure('bad-answer', 'the provider answered broken JSON', { cause: error });
  }
}
