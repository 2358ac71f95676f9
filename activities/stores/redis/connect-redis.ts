import { Redis } from 'ioredis';

/** A Redis that takes longer is treated as away: what it keeps may be lost, so no request waits for it. */
const TIMEOUT_MS = 250;
const CONNECT_MS = 2000;
const MAX_PAUSE_MS = 2000;

export interface RedisConnection {
  client: Redis;
  close(): Promise<void>;
}

/**
 * A client whose commands never wait: one fails at once while there is no connection, and after
 * TIMEOUT_MS when there is one that does not answer. Such a connection is dropped, and the new one counts as ready
 * only when Redis has answered on it, so a server that hangs costs that time-out once and not per request.
 * It connects in the background and for ever; `onState` is told each time the server comes and goes.
 */
export function connectRedis(
  { url }: { url: string },
  onState: (state: 'ready' | 'away', cause?: Error) => void = () => {},
): RedisConnection {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    socketTimeout: TIMEOUT_MS,
    connectTimeout: CONNECT_MS,
    // A connection that is gone already is waited for as long when the client is closed.
    disconnectTimeout: 100,
    retryStrategy: (attempt) => Math.min(100 * attempt, MAX_PAUSE_MS),
  });
  let state: 'unknown' | 'ready' | 'away' = 'unknown';
  let lastError: Error | undefined;
  const become = (next: 'ready' | 'away'): void => {
    if (state === next) return;
    state = next;
    if (next === 'away') onState(next, lastError);
    else onState(next);
  };
  // Without a listener the client would write each failed attempt to the console.
  client.on('error', (error: Error) => (lastError = error));
  client.on('ready', () => become('ready'));
  client.on('close', () => become('away'));
  return {
    client,
    async close() {
      client.removeAllListeners('close');
      client.disconnect();
    },
  };
}
