import { AsyncLocalStorage } from 'node:async_hooks';

interface Scope {
  requestId?: string;
  traceparent?: string;
  /** What the request keeps for itself, by who keeps it. */
  kept?: Map<object, unknown>;
}

const scope = new AsyncLocalStorage<Scope>();

/** Everything that the work does, wherever it waits, belongs to a request. */
export function inRequest<T>(requestId: string, work: () => T): T {
  return scope.run({ ...scope.getStore(), requestId, kept: new Map() }, work);
}

/** The id of the request that caused what runs now; undefined for upkeep, which no request causes. */
export function currentRequestId(): string | undefined {
  return scope.getStore()?.requestId;
}

/** What is kept for as long as the request runs that caused what runs now; undefined for upkeep. */
export function keptForRequest(): Map<object, unknown> | undefined {
  return scope.getStore()?.kept;
}

/** What the work does is no request's, though one caused it: others will have its result as well. */
export function outsideRequests<T>(work: () => T): T {
  return scope.run({}, work);
}

/** Everything that the work does is part of a span. */
export function inSpan<T>(traceparent: string, work: () => T): T {
  return scope.run({ ...scope.getStore(), traceparent }, work);
}

/** The span that what runs now is part of, as the W3C header writes it; undefined where nothing is traced. */
export function currentSpan(): string | undefined {
  return scope.getStore()?.traceparent;
}
