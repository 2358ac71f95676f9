import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import type { CapiClient, DeliveryResult } from '../../ports/capi.js';
import { isForeign } from '../../outbound/foreign-answer.js';
import { readBody, refusalOf } from './refusal.js';
import { stringsIn, withoutQuotes } from '../../text/without-quotes.js';
import { createStatusLineReader } from './status-line.js';
import { GZIP_ABOVE, zipped } from '../reading/content-encoding.js';

export interface CapiClientOptions {
  /** Where CAPI is; a path in it is kept in front of `/v2` and `/v3`. */
  baseUrl: string;
  /** From the first byte out to the status line in (PROXY_TIMEOUT_MS). */
  timeoutMs: number;
  userAgent: string;
}

/** After a refused compressed body (by a proxy in front of CAPI) plain ones are sent for so long. */
const PLAIN_FOR_MS = 3_600_000;
const UNSUPPORTED_MEDIA_TYPE = 415;

/** The headers behind a 2xx status line are waited for so long: they tell whose answer it is. */
const HEADERS_MS = 1000;
/** What is left of an accepted answer is read for so long, then cut: nothing in it matters. */
const LINGER_MS = 1000;

/**
 * Sends batches of signals to the central API. It tells three things apart that most clients mix up, because a batch
 * must not be offered twice without need: CAPI never heard of it (`unreachable`), CAPI may have taken it
 * (`unknown`), CAPI answered. A 2xx counts from its status line on, whatever becomes of the connection afterwards,
 * unless its headers come and say that it is not CAPI's: a portal's page is `unknown`.
 *
 * One connection per request: an idle one that the other end has just closed would make every first batch `unknown`.
 */
export function createCapiClient({ baseUrl, timeoutMs, userAgent }: CapiClientOptions): CapiClient {
  const base = new URL(baseUrl);
  const secure = base.protocol === 'https:';
  const agent = secure ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false });
  const open = secure ? httpsRequest : httpRequest;
  const path = base.pathname.replace(/(?<!\/)\/+$/, '');

  let plainUntil = 0;

  const post = (target: string, bytes: Buffer, token: string, zip: boolean, signal?: AbortSignal) => {
    const request = open({
      agent,
      protocol: base.protocol,
      // The brackets of an IPv6 address belong to the URL only.
      hostname: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port,
      method: 'POST',
      path: `${path}/${target}`,
      headers: {
        'content-type': 'application/json',
        ...(zip ? { 'content-encoding': 'gzip' } : {}),
        'content-length': bytes.length,
        authorization: `Bearer ${token}`,
        'user-agent': userAgent,
        accept: 'application/json',
      },
    });
    return exchange(request, { bytes, secure, timeoutMs, signal });
  };

  return {
    async sendSignals(version, body, token, signal) {
      const discreet = (result: DeliveryResult): DeliveryResult =>
        withoutQuotesOf(result, () => JSON.parse(body));
      const bytes = Buffer.from(body, 'utf8');
      const target = `${version}/signals`;
      if (bytes.length <= GZIP_ABOVE || Date.now() < plainUntil)
        return discreet(await post(target, bytes, token, false, signal));
      const result = await post(target, await zipped(bytes), token, true, signal);
      // Refused for its wrapping and not for what is in it: that must not put signals into quarantine.
      if (result.outcome !== 'rejected' || result.status !== UNSUPPORTED_MEDIA_TYPE) return discreet(result);
      plainUntil = Date.now() + PLAIN_FOR_MS;
      return discreet(await post(target, bytes, token, false, signal));
    },
    async sendMetrics(target, bytes, token, signal) {
      const result = await post(target, bytes, token, true, signal);
      return withoutQuotesOf(result, () => JSON.parse(gunzipSync(bytes).toString('utf8')));
    },
  };
}

/** What CAPI says of a refusal goes to histories; what it quotes of the body may not. */
function withoutQuotesOf(result: DeliveryResult, body: () => unknown): DeliveryResult {
  if (result.outcome !== 'rejected' || result.message === '') return result;
  try {
    return { ...result, message: withoutQuotes(result.message, stringsIn(body())) };
  } catch {
    // What it may quote is not known.
    return { ...result, message: '' };
  }
}

interface Exchange {
  bytes: Buffer;
  secure: boolean;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

function exchange(request: ClientRequest, { bytes, secure, timeoutMs, signal }: Exchange) {
  return new Promise<DeliveryResult>((resolve) => {
    let connected = false;
    let status: number | null = null;
    let answer: IncomingMessage | null = null;
    let headersTimer: NodeJS.Timeout | undefined;
    let isFinished = false;

    const finish = (result: DeliveryResult): void => {
      if (isFinished) return;
      isFinished = true;
      clearTimeout(timer);
      clearTimeout(headersTimer);
      signal?.removeEventListener('abort', abort);
      resolve(result);
    };
    /** The exchange is over or given up; what has been seen so far decides. */
    const endWith = (message: string): void => {
      if (answer !== null) finish(refusalOf(answer, ''));
      else if (isSuccess(status)) finish({ outcome: 'accepted', status });
      else if (status !== null) finish({ outcome: 'rejected', status, retryAfterMs: null, message });
      else finish({ outcome: connected ? 'unknown' : 'unreachable', message });
      request.destroy();
    };
    const abort = (): void => endWith('The request was cancelled.');
    // Timers come before what the network has brought: a process that stood still for so long looks at that first, or
    // it would take an answer that is there for none, and offer the batch twice.
    const timer = setTimeout(
      () => setImmediate(() => endWith(`No answer within ${timeoutMs} ms.`)),
      timeoutMs,
    );

    request.once('socket', (socket) => {
      const read = createStatusLineReader();
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        connected = true;
      });
      // In front of the parser, which throws the status away when the headers never end.
      socket.prependListener('data', (chunk: Buffer) => {
        if (isFinished) return;
        status = read(chunk);
        if (!isSuccess(status) || headersTimer !== undefined) return;
        clearTimeout(timer);
        headersTimer = setTimeout(() => setImmediate(() => endWith('')), HEADERS_MS);
      });
    });
    request.once('response', (response: IncomingMessage) => {
      if (isFinished) return void response.resume();
      if (isSuccess(status)) {
        response.resume().on('error', () => undefined);
        finish(acceptanceOf(response, status));
        setTimeout(() => request.destroy(), LINGER_MS).unref();
        return;
      }
      answer = response;
      void readBody(response).then((body) => finish(refusalOf(response, body)));
    });
    // They stay for the life of the request: errors after the result is known must not be unhandled.
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (answer === null) endWith(describe(error));
    });
    request.on('close', () => {
      if (answer === null) endWith('The connection was closed without an answer.');
    });

    if (signal?.aborted === true) return abort();
    signal?.addEventListener('abort', abort, { once: true });
    request.end(bytes);
  });
}

function isSuccess(status: number | null): status is number {
  return status !== null && status < 300;
}

/** A 2xx is CAPI's unless its headers say otherwise. Another's leaves open whether CAPI got the request. */
function acceptanceOf({ headers }: IncomingMessage, status: number): DeliveryResult {
  if (!isForeign(headers)) return { outcome: 'accepted', status };
  const type = headers['content-type']?.slice(0, 100);
  return { outcome: 'unknown', message: `Not CAPI's answer: ${status} with content of type ${type}.` };
}

function describe(error: NodeJS.ErrnoException): string {
  return error.message === '' ? (error.code ?? 'The connection failed.') : error.message;
}
