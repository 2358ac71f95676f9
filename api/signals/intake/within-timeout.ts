import type { Logger } from '../../logger.js';

/** A watcher gets its answer soon, whatever the store does. */
const TIMEOUT_MS = 1000;

/** The store's answer within a second, else `otherwise`; a failure is logged and not thrown. */
export const withinTimeout = async <T>(
  work: Promise<T>,
  otherwise: T,
  log: Logger,
  what: string,
): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      log.warn(`${what}: the store does not answer`);
      resolve(otherwise);
    }, TIMEOUT_MS);
  });
  const safe = work.catch((error: unknown) => {
    log.error({ err: error }, what);
    return otherwise;
  });
  return Promise.race([safe, late]).finally(() => clearTimeout(timer));
};
