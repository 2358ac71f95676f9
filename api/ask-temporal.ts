import type { Logger } from './logger.js';

/** A client waits for us no longer than this because of Temporal. */
const TIMEOUT_MS = 2000;

/**
 * Asks something of Temporal that the records and the sweep make good when it fails: false then, never a throw.
 * A call that takes too long is left to itself.
 */
export const askTemporal = async (
  log: Pick<Logger, 'warn'>,
  what: string,
  call: () => Promise<void>,
): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    const asked = call();
    // When the time-out ends first, the late failure must not go unhandled.
    asked.catch(() => undefined);
    await Promise.race([asked, timeout]);
    return true;
  } catch (error) {
    log.warn({ err: error }, `${what} is left to the sweep`);
    return false;
  } finally {
    clearTimeout(timer);
  }
};
