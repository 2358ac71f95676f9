import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { createClientAddress, createClientName } from '../../../api/http/client-address.js';
import type { ProxyDeps } from '../../../api/signals/proxy-deps.js';
import { createApiKeyRateLimit } from '../../../api/signals/management/api-key-rate-limit.js';
import { createCapiPassThrough } from '../../../api/signals/relay/capi-pass-through.js';
import { compileRule } from '../../../activities/signals/rules/compile-rule.js';
import { NO_IP_INFO } from '../../../activities/signals/ip-info/ip-info.js';
import { createInProcessCache } from '../../../activities/stores/in-process-cache.js';
import { createInProcessRateLimits } from '../../../activities/stores/redis/rate-limits.js';
import type { SavedRuleStore } from '../../../activities/ports/saved-rules.js';
import { openProxyStores } from './open-stores.js';
import { startGateway } from './start-gateway.js';
import type { GatewayOptions } from './start-gateway.js';

export const DASHBOARD_KEY = 'dashboard-0123456789abcdef';
/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9';

export const OPEN_ACCESS: ProxyDeps['settings']['access'] = {
  watchers: null,
  networks: null,
  validation: {
    enabled: false,
    ttlMs: 600_000,
    ttlOnErrorMs: 60_000,
    timeoutMs: 500,
    failClosed: false,
    maxEntries: 1000,
  },
};

export interface ProxyOptions {
  env?: Record<string, string>;
  consoleFolder?: string;
  isProxyAside?: boolean;
  bodyPace?: GatewayOptions['bodyPace'];
  isProxyAlone?: boolean;
  capiUrl?: string;
  timeoutMs?: number;
  /** Requests a minute that an address may make without a valid key; unset: any number. */
  unauthenticatedRate?: number;
  settings?: Partial<ProxyDeps['settings']>;
  /** Whose X-Forwarded-For counts. */
  trustedProxies?: string[];
  /** Rules as their files have them, and what is wrong with other files. */
  rules?: { name: string; filter: object; enabled?: boolean; watchers?: string[] }[];
  /** Instead of those. */
  registry?: (saved: SavedRuleStore) => ProxyDeps['rules'];
  geo?: ProxyDeps['geo'];
  mode?: 'block' | 'allow';
  faults?: { file: string; message: string }[];
  /** Puts faults between the gateway and the stores of the proxy. */
  adapt?: (
    stores: Pick<ProxyDeps, 'alerts' | 'watchers' | 'logins' | 'copies'>,
  ) => Partial<
    Pick<ProxyDeps, 'alerts' | 'watchers' | 'logins' | 'copies' | 'statistics' | 'keys' | 'ipInfo'>
  >;
  /** What telling the actor does; unset: nothing. */
  notifySignals?: (watcher: string) => Promise<void>;
  urge?: (watcher: string, word: string) => Promise<void>;
  now?: () => Date;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

/**
 * The real app with both jobs on a loopback port, the proxy over stores in memory unless told otherwise and a real line
 * to `capiUrl`.
 */
export async function startProxy(options: ProxyOptions = {}) {
  const now = options.now ?? (() => new Date());
  const opened = await openProxyStores(now);
  const { statistics, keys, savedRules, ...stores } = opened.stores;
  const woken: string[] = [];
  const urged: string[] = [];
  const rules = (options.rules ?? []).map((rule) => {
    const compiled = compileRule(rule, (_path, message) => {
      throw new Error(message);
    });
    if (compiled === null) throw new Error('no rule');
    return compiled;
  });
  const line = createCapiPassThrough({
    baseUrl: options.capiUrl ?? NOWHERE,
    timeoutMs: options.timeoutMs ?? 5000,
  });
  const gateway = await startGateway({
    env: {
      ...options.env,
      ...(options.trustedProxies && { UVICORN_FORWARDED_ALLOW_IPS: options.trustedProxies.join(',') }),
    },
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.bodyPace === undefined ? {} : { bodyPace: options.bodyPace }),
    ...(options.isProxyAside === undefined ? {} : { isProxyAside: options.isProxyAside }),
    ...(options.isProxyAlone === undefined ? {} : { isProxyAlone: options.isProxyAlone }),
    ...(options.consoleFolder === undefined ? {} : { consoleFolder: options.consoleFolder }),
    proxy: {
      statistics,
      keys,
      savedRules,
      ipInfo: NO_IP_INFO,
      unauthenticated: createApiKeyRateLimit({
        limits: createInProcessRateLimits(),
        rate: { points: options.unauthenticatedRate ?? 1_000_000, seconds: 60 },
        addressOf: createClientName([]),
      }),
      addressOf: createClientAddress(options.trustedProxies ?? []),
      ...stores,
      ...options.adapt?.(stores),
      forwarding: {
        notifySignals: async (watcher) => {
          woken.push(watcher);
          await options.notifySignals?.(watcher);
        },
        notifyMetrics: async (watcher) => {
          woken.push(`metrics of ${watcher}`);
        },
        urge: async (watcher, word) => {
          await options.urge?.(watcher, word);
          urged.push(`${word} ${watcher}`);
        },
        urgeMetrics: async (watcher) => void urged.push(`retry metrics of ${watcher}`),
      },
      rules: options.registry?.(savedRules) ?? {
        current: () => ({
          rules,
          ofFiles: rules,
          mode: options.mode ?? 'block',
          faults: options.faults ?? [],
          version: 'version-1',
          loadedAt: new Date(0),
        }),
        reload: async () => {},
      },
      geo: options.geo ?? null,
      passThrough: line.passThrough,
      validated: createInProcessCache((options.settings?.access ?? OPEN_ACCESS).validation.maxEntries, () =>
        now().getTime(),
      ),
      settings: {
        dashboardApiKey: DASHBOARD_KEY,
        maxSignalBytes: 10 * 1024 * 1024,
        maxMetricsBytes: 16 * 1024 * 1024,
        retentionDays: 30,
        quarantineDays: 0,
        forwardEnabled: true,
        loginBudget: 18,
        loginWindowMs: 50 * 60_000,
        unknownPerAddress: 50,
        unknownLifetimeMs: 72 * 3_600_000,
        lapiServers: [],
        access: OPEN_ACCESS,
        ...options.settings,
      },
      now,
    },
  });

  return {
    ...gateway,
    stores: { ...stores, statistics },
    woken,
    urged,
    /** A push as a LAPI makes it. */
    push(
      body: unknown,
      { path = '/v3/signals', token = 'opaque-token', headers = {} } = {},
    ): Promise<Response> {
      return fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      });
    },
    /** A request of a dashboard; with the right key unless another (or null for none) is given. */
    ask(
      path: string,
      {
        key = DASHBOARD_KEY,
        method = 'GET',
        body,
      }: { key?: string | null; method?: string; body?: unknown } = {},
    ): Promise<Response> {
      return fetch(`${gateway.url}${path}`, {
        method,
        headers: {
          ...(key === null ? {} : { 'x-api-key': key }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
    },
    /** A request whose target and headers go out exactly as given, and whose answer comes back as it is. */
    raw(
      method: string,
      path: string,
      { headers = {}, body }: { headers?: Record<string, string | string[]>; body?: Buffer } = {},
    ): Promise<RawAnswer> {
      return new Promise((resolve, reject) => {
        const { hostname, port } = new URL(gateway.url);
        const sent = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.once('error', reject);
          answer.once('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              body: Buffer.concat(chunks),
            }),
          );
        });
        sent.once('error', reject);
        sent.end(body);
      });
    },
    async close(): Promise<void> {
      await gateway.close();
      await line.close();
      await opened.close();
    },
  };
}
