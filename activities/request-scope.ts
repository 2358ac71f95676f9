import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<string>();

/** Everything that the work does, wherever it waits, belongs to a request. */
export const inRequest = <T>(requestId: string, work: () => T): T => scope.run(requestId, work);

/** The id of the request that caused what runs now; undefined for upkeep, which no request causes. */
export const currentRequestId = (): string | undefined => scope.getStore();
