import { Cluster, Redis } from 'ioredis';
import { AccessProblem, tlsProblem } from '../../../schemas/engine-access.js';
import { readPem } from '../../engine-certificates.js';

/** A Redis that takes longer is treated as away: what it keeps may be lost, so no request waits for it. */
const TIMEOUT_MS = 250;
const CONNECT_MS = 2000;
const MAX_PAUSE_MS = 2000;

interface Address {
  host: string;
  port: number;
}

export interface RedisOptions {
  /** Where the server is; of a sentinel's server or a cluster, user, password, database and TLS alone. */
  url: string;
  /** Files of certificates and of a key. */
  ca?: string | null;
  certificate?: string | null;
  key?: string | null;
  /** Those that know the present primary, and what they call it. */
  sentinel?: {
    nodes: readonly Address[];
    master: string;
    username: string | null;
    password: string | null;
  } | null;
  /** Some nodes of a cluster. */
  clusterNodes?: readonly Address[] | null;
}

export interface RedisConnection {
  client: Redis | Cluster;
  /** Why it turns us away, while it does; null: it is there, or away for another reason. */
  problem(): AccessProblem | null;
  close(): Promise<void>;
}

const NAMES = {
  engine: 'Redis',
  address: 'REDIS_URL',
  ca: 'REDIS_CA_FILE',
  certificate: 'REDIS_CLIENT_CERT_FILE',
};

/**
 * A client whose commands never wait: one fails at once while there is no connection, and after
 * TIMEOUT_MS when there is one that does not answer. Such a connection is dropped, and the new one counts as ready
 * only when Redis has answered on it, so a server that hangs costs that time-out once and not per request.
 * It connects in the background and for ever; `onState` is told each time the server comes and goes.
 * @throws ConfigError when a file of certificates cannot be read
 */
export function connectRedis(
  options: RedisOptions,
  onState: (state: 'ready' | 'away', cause?: Error) => void = () => {},
): RedisConnection {
  const client = createClient(options);
  let state: 'unknown' | 'ready' | 'away' = 'unknown';
  let lastError: Error | undefined;
  let problem: AccessProblem | undefined;
  const become = (next: 'ready' | 'away'): void => {
    if (state === next) return;
    state = next;
    if (next === 'away') return onState(next, problem ?? lastError);
    problem = undefined;
    onState(next);
  };
  /** Why it turns us away comes among other errors, before or after the connection has closed. */
  const note = (error: Error): void => {
    lastError = error;
    const found = accessProblem(error, options);
    if (found === undefined || found.message === problem?.message) return;
    problem = found;
    if (state === 'away') onState('away', problem);
    else become('away');
  };
  // Without a listener the client would write each failed attempt to the console.
  client.on('error', note);
  // Of a cluster, what is the matter with one of its nodes.
  client.on('node error', note);
  client.on('ready', () => become('ready'));
  client.on('close', () => become('away'));
  return {
    client,
    problem: () => problem ?? null,
    async close() {
      client.removeAllListeners('close');
      client.disconnect();
    },
  };
}

function createClient(options: RedisOptions): Redis | Cluster {
  const { url, sentinel, clusterNodes } = options;
  const retry = (attempt: number): number => Math.min(100 * attempt, MAX_PAUSE_MS);
  const tls = tlsOptions(options);
  const common = {
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    socketTimeout: TIMEOUT_MS,
    connectTimeout: CONNECT_MS,
    // A connection that is gone already is waited for as long when the client is closed.
    disconnectTimeout: 100,
    ...(tls && { tls }),
  };
  const single = { ...common, enableOfflineQueue: false, retryStrategy: retry };
  if (sentinel == null && clusterNodes == null) return new Redis(url, single);
  const login = loginOf(url);
  if (sentinel != null)
    return new Redis({
      ...single,
      ...login,
      sentinels: sentinel.nodes.map((node) => ({ ...node })),
      name: sentinel.master,
      ...(sentinel.username !== null && { sentinelUsername: sentinel.username }),
      ...(sentinel.password !== null && { sentinelPassword: sentinel.password }),
      ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
      sentinelRetryStrategy: retry,
    });
  const { db: _onlyOne, ...user } = login;
  return new Cluster(
    (clusterNodes ?? []).map((node) => ({ ...node })),
    {
      enableOfflineQueue: false,
      clusterRetryStrategy: retry,
      slotsRefreshTimeout: CONNECT_MS,
      redisOptions: { ...common, ...user },
      // A certificate names the hosts that nodes are known by, not their addresses.
      ...(tls && { dnsLookup: (address, done) => done(null, address) }),
    },
  );
}

/** What an address says besides the address. */
function loginOf(url: string): { username?: string; password?: string; db?: number } {
  const { username, password, pathname } = new URL(url);
  const db = Number(pathname.slice(1));
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(Number.isInteger(db) && db > 0 && { db }),
  };
}

/** Undefined: an address without TLS. */
function tlsOptions({ url, ca, certificate, key }: RedisOptions) {
  if (!url.startsWith('rediss:')) return undefined;
  const parts = {
    ca: readPem('REDIS_CA_FILE', ca),
    cert: readPem('REDIS_CLIENT_CERT_FILE', certificate),
    key: readPem('REDIS_CLIENT_KEY_FILE', key),
  };
  return {
    ...(parts.ca !== undefined && { ca: parts.ca }),
    ...(parts.cert !== undefined && { cert: parts.cert }),
    ...(parts.key !== undefined && { key: parts.key }),
  };
}

/** Why Redis, or a sentinel, turns us away; undefined: it does not. Both say it in these words. */
function accessProblem(error: Error, { sentinel }: RedisOptions): AccessProblem | undefined {
  if (/\b(WRONGPASS|NOAUTH|NOPERM)\b|ERR AUTH/.test(error.message)) {
    const isSentinel = sentinel != null && error.message.includes('sentinels');
    return new AccessProblem(
      isSentinel
        ? 'REDIS_SENTINEL_PASSWORD: the sentinels refuse this user or password, or want one.'
        : 'REDIS_URL: Redis refuses its user or password, or wants one.',
      { cause: error },
    );
  }
  return tlsProblem(error, NAMES);
}
