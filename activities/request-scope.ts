import { AsyncLocalStorage } from 'node:async_hooks';

interface Scope {
  requestId?: string;
  traceparent?: string;
}

const scope = new AsyncLocalStorage<Scope>();

/** Everything that the work does, wherever it waits, belongs to a request. */
export const inRequest = <T>(requestId: string, work: () => T): T =>
  scope.run({ ...scope.getStore(), requestId }, work);

/** The id of the request that caused what runs now; undefined for upkeep, which no request causes. */
export const currentRequestId = (): string | undefined => scope.getStore()?.requestId;

/** Everything that the work does is part of a span. */
export const inSpan = <T>(traceparent: string, work: () => T): T =>
  scope.run({ ...scope.getStore(), traceparent }, work);

/** The span that what runs now is part of, as the W3C header writes it; undefined where nothing is traced. */
export const currentSpan = (): string | undefined => scope.getStore()?.traceparent;
