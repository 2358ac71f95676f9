import type { Forwarding } from '../queries';

/** A failure counts while signals wait because of it: it stays in the record, and one that is refused holds none. */
export function failureOf({ watchers }: Pick<Forwarding, 'watchers'>): string | null {
  const failing = watchers.find(
    ({ waiting, pausedSince, lastError, lastSuccess }) =>
      waiting > 0 &&
      pausedSince === null &&
      lastError !== null &&
      lastError.cause !== 'refused' &&
      (lastSuccess === null || Date.parse(lastError.at) > Date.parse(lastSuccess)),
  );
  return failing?.lastError?.message ?? null;
}
