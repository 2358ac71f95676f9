import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { AppError } from '../../../schemas/app-error.js';
import { answerHeaders, requestHeaders } from './end-to-end-headers.js';
import type { HeaderMap } from './end-to-end-headers.js';

export interface PassThroughRequest {
  method: string;
  /** Path and query exactly as the client sent them. */
  path: string;
  headers: HeaderMap;
  /** Read as it comes, never kept; null for a request without a body. */
  body: Readable | null;
}

export interface PassThroughAnswer {
  status: number;
  headers: Record<string, string | string[]>;
  /** As it comes from CAPI, still encoded. It fails when CAPI breaks off: pipe it with `pipeline`. */
  body: Readable;
}

export interface CapiPassThrough {
  /**
   * @throws AppError CAPI_UNREACHABLE when CAPI cannot be reached or does not answer in time; BAD_REQUEST for a path
   *   or method that no client of CAPI sends
   */
  passThrough(
    request: PassThroughRequest,
    options?: {
      signal?: AbortSignal | undefined;
      /** There is a connection, secured where it has to be, and the body begins to go out on it. */
      onConnected?: (() => void) | undefined;
    },
  ): Promise<PassThroughAnswer>;
  close(): Promise<void>;
}

/** Everything that is not a signal goes to CAPI as it came, and back: logins, metrics, blocklists. */
export function createCapiPassThrough(options: {
  baseUrl: string;
  /** Until the answer's headers, and between two chunks of its body (PROXY_TIMEOUT_MS). */
  timeoutMs: number;
  /** Told of each answer; null: CAPI gave none. */
  onAnswer?: (status: number | null) => void;
}): CapiPassThrough {
  const { timeoutMs, onAnswer = () => undefined } = options;
  const base = new URL(options.baseUrl);
  const folder = base.pathname.replace(/(?<!\/)\/+$/, '');
  // No idle connections: one that CAPI has just closed would turn a good login into a 502.
  const agent = new Agent({
    pipelining: 0,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });

  const passThrough: CapiPassThrough['passThrough'] = async (request, options = {}) => {
    const { signal, onConnected } = options;
    assertSafe(request);
    const headers = requestHeaders(request.headers);
    const relay = relayOf(request.body);
    // Nothing reads the body before there is a connection.
    if (onConnected !== undefined) relay?.once('resume', onConnected);
    const inTime = AbortSignal.timeout(timeoutMs);
    const late = new AbortController();
    const stop = (): void => late.abort();
    inTime.addEventListener('abort', stop, { once: true });
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    try {
      // The host is fixed by the configuration; what the client sent stands behind it, byte for byte.
      const answer = await agent.request({
        origin: base.origin,
        path: `${folder}${request.path}`,
        method: request.method,
        headers,
        body: relay,
        signal: late.signal,
      });
      onAnswer(answer.statusCode);
      return {
        status: answer.statusCode,
        headers: answerHeaders(answer.headers),
        body: answer.body,
      };
    } catch (error) {
      // The client may still be sending: read on to nowhere, so that it can hear the answer.
      request.body?.unpipe().resume();
      if (signal?.aborted === true) throw signal.reason;
      onAnswer(null);
      throw new AppError('CAPI_UNREACHABLE', undefined, { cause: error });
    } finally {
      // From the headers on only the client's own going away stops the exchange.
      inTime.removeEventListener('abort', stop);
    }
  };
  return { passThrough, close: () => agent.destroy() };
}

/**
 * A stream between client and CAPI: undici destroys the body it was given, and with it would go the client's socket.
 */
function relayOf(body: Readable | null): PassThrough | null {
  if (body === null) return null;
  const relay = new PassThrough();
  // The client may leave when undici listens no more.
  relay.on('error', () => undefined);
  body.once('error', (error) => relay.destroy(error));
  body.once('close', () => {
    if (!body.readableEnded) relay.destroy(new Error('The client went away.'));
  });
  return body.pipe(relay);
}

function assertSafe({ method, path }: PassThroughRequest): void {
  const odd =
    // Origin form only: no other host by `//host` or `http://host`, no folder above by dot segments.
    !/^\/(?!\/)[\x21-\x7e]*$/.test(path) ||
    /[\\#]/.test(path) ||
    /(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path.split('?', 1)[0]!) ||
    !/^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method);
  if (odd) throw new AppError('BAD_REQUEST');
}
