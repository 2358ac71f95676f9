import { createParser } from 'eventsource-parser';
import { CliFailure, EXIT } from './cli-failure.js';

export interface Target {
  url: string;
  /** Of the proxy's management side: the same, unless PROXY_PORT gives the proxy an address of its own. */
  proxyUrl: string;
  /** For the documents' side, `Authorization: Bearer`. */
  token: string | null;
  /** For the proxy's management side, `X-Api-Key`. */
  key: string | null;
}

export interface Gateway {
  /** @throws CliFailure */
  ask<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** The data of server-sent events until the stream ends. @throws CliFailure */
  events<T>(path: string): AsyncGenerator<T>;
  /** Ends requests that are under way. */
  signal: AbortSignal;
}

const ANSWER_MS = 60_000;
const MANAGEMENT = '/api/';
/** What a gateway says of a path that it has no route for, and of nothing else. */
const NO_SUCH_ROUTE = 'Not Found';
/** The last event of a stream. */
const DONE = '[DONE]';

const PROXY_HINT =
  '; where PROXY_PORT gives the proxy an address of its own, name it (--proxy-url or TAMIS_PROXY_URL)';

export function connectGateway(target: Target, signal: AbortSignal): Gateway {
  const urlOf = (path: string): string => (path.startsWith(MANAGEMENT) ? target.proxyUrl : target.url);

  const open = async (method: string, path: string, body: unknown, limit: AbortSignal): Promise<Response> => {
    const isManagement = path.startsWith(MANAGEMENT);
    const url = urlOf(path);
    const headers = credentials(target, isManagement);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, {
        method,
        headers,
        signal: limit,
        redirect: 'error',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw unreachable(url, error);
    }
    if (response.ok) return response;
    const text = await response.text().catch(() => '');
    const said = readRefusal(text);
    // What was typed, as wrong as what this command line finds out by itself.
    if (said.isInvalid) throw new CliFailure(EXIT.wrongUse, said.words, response.status);
    if (isManagement && response.status === 404 && said.words === NO_SUCH_ROUTE)
      throw new CliFailure(EXIT.failed, `${url} serves nothing of the proxy${PROXY_HINT}`, 404);
    throw refusal(response.status, said.words, isManagement ? target.key : target.token, isManagement);
  };

  return {
    signal,
    async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      const response = await open(method, path, body, limit);
      const text = await response.text().catch((error: unknown) => {
        throw unreachable(urlOf(path), error);
      });
      try {
        return (text === '' ? null : JSON.parse(text)) as T;
      } catch {
        throw new CliFailure(EXIT.failed, `${urlOf(path)} does not answer as Tamis does.`);
      }
    },

    async *events<T>(path: string): AsyncGenerator<T> {
      const response = await open('GET', path, undefined, signal);
      const waiting: string[] = [];
      const parser = createParser({ onEvent: ({ data }) => waiting.push(data) });
      const decoder = new TextDecoder();
      try {
        for await (const part of response.body ?? []) {
          parser.feed(decoder.decode(part as Uint8Array, { stream: true }));
          for (const data of waiting.splice(0)) {
            if (data === DONE) return;
            const event = JSON.parse(data) as T | ErrorEvent;
            if (isErrorEvent(event)) throw new CliFailure(EXIT.failed, event.error.message, 503);
            yield event;
          }
        }
      } catch (error) {
        if (error instanceof CliFailure) throw error;
        throw unreachable(urlOf(path), error);
      }
    },
  };
}

/**
 * A gateway of the proxy alone has no users: there the key lets in outside the management side as well. Whether it is
 * one is not known here, so both are sent where both sides have one address.
 */
function credentials({ url, proxyUrl, token, key }: Target, isManagement: boolean): Headers {
  const headers = new Headers();
  if (!isManagement && token !== null) headers.set('Authorization', `Bearer ${token}`);
  if (key !== null && (isManagement || token === null || url === proxyUrl)) headers.set('X-Api-Key', key);
  return headers;
}

/** What fails once a stream has begun, such as a gateway that is told to stop; a state may have an `error` too. */
interface ErrorEvent {
  error: { type: 'error'; message: string };
}

function isErrorEvent(event: unknown): event is ErrorEvent {
  return (event as { error?: { type?: unknown } | null } | null)?.error?.type === 'error';
}

function unreachable(url: string, error: unknown): CliFailure {
  const { cause, message, name } = error as Error;
  const reason = name === 'TimeoutError' ? 'it does not answer' : causeOf(cause) || message;
  return new CliFailure(EXIT.unreachable, `The gateway at ${url} cannot be reached: ${reason}`);
}

function causeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  return cause.message || ((cause as NodeJS.ErrnoException).code ?? '');
}

function refusal(
  status: number,
  words: string,
  credential: string | null,
  isManagement: boolean,
): CliFailure {
  const said = words === '' ? `the gateway answered ${status}` : words;
  if (status !== 401 && status !== 403) return new CliFailure(EXIT.failed, said, status);
  const [what, flag, variable] = isManagement
    ? ['key', '--key', 'TAMIS_KEY']
    : ['token', '--token', 'TAMIS_TOKEN'];
  const hint = credential === null ? `; no ${what} was given (${flag} or ${variable})` : '';
  return new CliFailure(EXIT.refused, `Refused: ${said}${hint}`, status);
}

interface ErrorBody {
  detail?: string | { loc: (string | number)[]; msg: string }[];
  error?: string;
}

/** The sentence of an answer that is an error, in either form of the gateway's. */
function readRefusal(text: string): { words: string; isInvalid: boolean } {
  let body: ErrorBody | null;
  try {
    body = JSON.parse(text) as ErrorBody | null;
  } catch {
    return { words: '', isInvalid: false };
  }
  if (typeof body?.error === 'string') return { words: body.error, isInvalid: false };
  const detail = body?.detail;
  if (!Array.isArray(detail)) return { words: detail ?? '', isInvalid: false };
  const words = detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ');
  return { words, isInvalid: true };
}
