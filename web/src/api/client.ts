import createClient from 'openapi-fetch';
import type { Middleware } from 'openapi-fetch';
import { ApiError, errorOf } from './api-error';
import type { paths } from './schema.gen';

export const SESSION_PATH = '/app/session';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Not state of the page: what the next writing call has to carry. */
let csrfToken: string | null = null;
let refused: () => void = () => {};
const unreachable = new Set<() => void>();

export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** Without a session every writing call is refused. */
export function isSignedIn(): boolean {
  return csrfToken !== null;
}

/** Called when the server does not know the caller, or no longer as the one that it was. */
export function onRefused(listener: () => void): void {
  refused = listener;
}

/** Tells each time that the server could not be reached, by whatever call; answers how to listen no more. */
export function onUnreachable(listener: () => void): () => void {
  unreachable.add(listener);
  return () => void unreachable.delete(listener);
}

/** The error of a call that did not reach the server, or whose answer broke off. */
export function unreachableError(): ApiError {
  for (const listener of unreachable) listener();
  return new ApiError(0, null, '');
}

export function writingHeaders(): Record<string, string> {
  return csrfToken === null ? {} : { 'X-CSRF-Token': csrfToken };
}

/** What a refusal tells about the session: it is asked again, since it may have ended. */
export function noteStatus(status: number): void {
  if (status === 401 || status === 403) refused();
}

const middleware: Middleware = {
  onRequest({ request }) {
    if (!READING.has(request.method))
      for (const [name, value] of Object.entries(writingHeaders())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return;
    noteStatus(response.status);
    throw errorOf(response.status, await response.text(), response.headers);
  },
  onError({ error }) {
    if (error instanceof Error && error.name === 'AbortError') return error;
    return unreachableError();
  },
};

/** Calls by the types of the gateway's own description; every refusal is thrown as an `ApiError`. */
export const api = createClient<paths>({ baseUrl: window.location.origin });
api.use(middleware);

/** The body of an answer that is no error. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}

/** A call that the description has no type for: the session's own routes and streams. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!READING.has(init.method ?? 'GET'))
    for (const [name, value] of Object.entries(writingHeaders())) headers.set(name, value);
  const response = await fetch(path, { ...init, headers }).catch((error: Error) => {
    throw error.name === 'AbortError' ? error : unreachableError();
  });
  if (response.ok) return response;
  // The session's own answers say who is signed in; but who may not sign out signed in anew elsewhere.
  if (path !== SESSION_PATH || init.method === 'DELETE') noteStatus(response.status);
  throw errorOf(response.status, await response.text(), response.headers);
}
