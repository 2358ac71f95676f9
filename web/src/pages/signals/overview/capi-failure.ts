import type { Forwarding } from '../queries';

/**
 * What keeps signals from all watchers alike: the central API is away or fails, or it limits or shuts out the one
 * address that all of them are sent from. A missing login is a matter of one watcher, and its card tells it.
 */
const COMMON_CAUSES: readonly string[] = ['network', 'server-error', 'rate-limited', 'forbidden'];

/** A failure counts while signals wait because of it, and until the central API takes some, whichever watcher's. */
export function failureOf({ watchers }: Pick<Forwarding, 'watchers'>): string | null {
  const newestSuccess = Math.max(
    ...watchers.map(({ lastSuccess }) => (lastSuccess === null ? -Infinity : Date.parse(lastSuccess))),
  );
  const failing = watchers.find(
    ({ waiting, pausedSince, lastError }) =>
      waiting > 0 &&
      pausedSince === null &&
      lastError !== null &&
      COMMON_CAUSES.includes(lastError.cause) &&
      Date.parse(lastError.at) > newestSuccess,
  );
  return failing?.lastError?.message ?? null;
}
