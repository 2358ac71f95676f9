import { setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../schemas/app-error.js';
import { waitsUntilAbort } from '../../activities/retrieval/chat/aborts.js';
import { DONE_EVENT, errorEvent } from './stream-events.js';

/** Running requests get so long to finish after a signal to stop. */
const GRACE_MS = 10_000;
/** An answer in events that is not complete then is ended in good form, before its connection is cut. */
const LAST_WORDS_MS = 9_000;

/**
 * Kept connections go on for so long, and each answer ends its own: one that is closed while its client sends the next
 * request loses that request. No client has used meanwhile what is left then.
 */
const LINGER_MS = 500;

/** How far a gateway that was told to stop has come. */
export interface Stopping {
  /** Who waits for something is answered now. */
  begun: AbortSignal;
  /** Answers in events end now. */
  late: AbortSignal;
}

/**
 * Ends servers as their clients would like it: no request that has come is left without an answer within the grace
 * time, and no connection that is kept waits for another one.
 */
export function createStopping(): Stopping & {
  /** @returns when the last connection has ended */
  stop(servers: readonly Server[]): Promise<void>;
} {
  const begun = new AbortController();
  const late = new AbortController();
  // One for each stream that is open.
  setMaxListeners(0, begun.signal, late.signal);
  return {
    begun: begun.signal,
    late: late.signal,
    async stop(servers) {
      begun.abort();
      const cuts = [
        setTimeout(() => late.abort(), LAST_WORDS_MS),
        setTimeout(() => servers.forEach((server) => server.closeAllConnections()), GRACE_MS),
      ];
      await Promise.all(
        servers.map(async (server) => {
          // A connection that was kept for another request is idle once its answer is through.
          server.prependListener('request', (_request, response) =>
            response.setHeader('Connection', 'close'),
          );
          // The server's own `close` would close idle connections at once.
          const ended = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
          if (await hasConnections(server)) await delay(LINGER_MS);
          const idle = setInterval(() => server.closeIdleConnections(), 100);
          await ended;
          clearInterval(idle);
        }),
      );
      cuts.forEach(clearTimeout);
    },
  };
}

function hasConnections(server: Server): Promise<boolean> {
  return new Promise((resolve) =>
    server.getConnections((error, count) => resolve(error !== null || count > 0)),
  );
}

/** The events, cut short in good form when the signal comes first. What makes them is left alone then. */
export async function* endingWith(
  events: AsyncGenerator<string>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const waits = waitsUntilAbort(signal);
  try {
    for (;;) {
      const next = await waits.orAbort(events.next());
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    yield errorEvent(new AppError('SERVICE_UNAVAILABLE', 'The gateway stops. Please ask again.'));
    yield DONE_EVENT;
  } finally {
    waits.dispose();
    // Not awaited: it may be waiting for a word of a model.
    void events.return(undefined).catch(() => undefined);
  }
}
