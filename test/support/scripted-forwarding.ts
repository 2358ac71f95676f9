import { createForwardingActivities } from '../../activities/signals/forwarding-activities.js';
import type { ForwardingActivityDeps } from '../../activities/signals/forwarding-activities.js';
import { gunzipSync } from 'node:zlib';
import { createMetricsActivities } from '../../activities/signals/metrics-activities.js';
import { createFakeMetricsStore } from './fakes/signals/fake-metrics-store.js';
import type { ApiVersion, DeliveryState, WatcherRecord } from '../../schemas/signals/signals.js';
import type { DeliveryResult } from '../../activities/ports/capi.js';

interface ScriptedItem {
  id: number;
  watcher: string;
  version: ApiVersion;
  raw: string;
  state: DeliveryState;
  reason?: string;
}

export interface Offer {
  /** From 1. */
  number: number;
  version: ApiVersion;
  body: string;
  ids: number[];
  token: string;
  /** On the test server's clock. */
  atMs: number;
}

/**
 * The stores and CAPI as the forwarding actor meets them, in memory: real activities around a scripted CAPI. `answer`
 * says how CAPI takes an offer; what it accepts is noted in `accepted`, in order.
 */
export function createScriptedForwarding(clock: () => Promise<number>) {
  const items: ScriptedItem[] = [];
  const tokens: string[] = ['token-1'];
  const refused = new Set<string>();
  const offers: Offer[] = [];
  const accepted: number[] = [];
  const errors: (NonNullable<WatcherRecord['lastError']> & { nextAttemptAt: Date | null })[] = [];
  let answer: (offer: Offer) => DeliveryResult | Promise<DeliveryResult> = () => ok;
  const needlesslyHeld: string[] = [];
  let successes = 0;
  let pausedAt: Date | null = null;

  const waiting = (watcher: string): ScriptedItem[] =>
    items.filter((item) => item.watcher === watcher && item.state === 'waiting');

  const deps: ForwardingActivityDeps = {
    alerts: {
      nextWaiting: async (watcher, limit) =>
        waiting(watcher)
          .slice(0, limit)
          .map(({ id, version, raw }) => ({ id, version, bytes: Buffer.byteLength(raw) })),
      readWaiting: async (ids) =>
        ids.flatMap((id) => {
          const item = items.find((stored) => stored.id === id && stored.state === 'waiting');
          return item === undefined ? [] : [{ id, raw: item.raw, receivedAt: new Date(0) }];
        }),
      markForwarded: async (ids) => {
        for (const item of items) if (ids.includes(item.id)) item.state = 'forwarded';
      },
      quarantine: async (id, reason) => {
        Object.assign(
          items.find((item) => item.id === id)!,
          { state: 'quarantined', reason },
        );
      },
      watchersWaiting: async () => [
        ...new Set(items.filter((item) => item.state === 'waiting').map((item) => item.watcher)),
      ],
      discardWaiting: async () => ({ discarded: 0, left: false }),
      discardQuarantined: async () => ({ discarded: 0, left: false }),
    },
    watchers: {
      get: async (watcher) => ({
        ...watcherRecord(watcher),
        pausedAt,
        tokenUpdatedAt: tokens.length === 0 ? null : new Date(tokens.length),
      }),
      token: async () => {
        const token = tokens.at(-1);
        return token === undefined || refused.has(token) ? null : { token, digest: `digest-${token}` };
      },
      acceptToken: async () => undefined,
      refuseToken: async (_watcher, digest) => void refused.add(digest.replace('digest-', '')),
      wantLogin: async () => undefined,
      recordSuccess: async () => void (successes += 1),
      recordError: async (_watcher, error, nextAttemptAt) => void errors.push({ ...error, nextAttemptAt }),
      heldByOutage: async () => [...needlesslyHeld],
      expiredUnknownWatchers: async () => [],
      removeUnknownWatcher: async () => undefined,
      prolongUnknownWatcher: async () => undefined,
    },
    capi: {
      sendSignals: async (version, body, token) => {
        const ids = (JSON.parse(body) as { id: number }[]).map((item) => item.id);
        const offer = { number: offers.length + 1, version, body, ids, token, atMs: await clock() };
        offers.push(offer);
        const result = await answer(offer);
        if (result.outcome === 'accepted') accepted.push(...ids);
        return result;
      },
      sendMetrics: async (path, zipped, token) => {
        const body = gunzipSync(zipped).toString();
        const atMs = await clock();
        const offer = { number: offers.length + metricsSent.length + 1, version: 'v3' as const, body };
        const result = await answer({ ...offer, ids: [], token, atMs });
        metricsSent.push({ path, body, token, atMs });
        return result;
      },
    },
    settings: { enabled: true, paceMs: 0, graceMs: 0 },
  };
  const metrics = createFakeMetricsStore();
  const metricsSent: { path: string; body: string; token: string; atMs: number }[] = [];

  return {
    deps,
    items,
    tokens,
    offers,
    accepted,
    errors,
    metrics,
    metricsSent,
    needlesslyHeld,
    activities: {
      ...createForwardingActivities(deps),
      ...createMetricsActivities({ ...deps, metrics }),
    },
    successes: () => successes,
    /** Stores so many signals, ids ever increasing. */
    add(
      count: number,
      {
        watcher = 'lapi',
        version = 'v3',
        bytes = 0,
      }: { watcher?: string; version?: ApiVersion; bytes?: number } = {},
    ): void {
      for (let i = 0; i < count; i += 1) {
        const id = items.length + 1;
        const raw = `{"id":${id},"score":1.10${bytes > 0 ? `,"pad":"${'x'.repeat(bytes)}"` : ''}}`;
        items.push({ id, watcher, version, raw, state: 'waiting' });
      }
    },
    pause(at: Date | null = new Date()): void {
      pausedAt = at;
    },
    answer(next: typeof answer): void {
      answer = next;
    },
    ids: (state: DeliveryState) => items.filter((item) => item.state === state).map((item) => item.id),
  };
}

function watcherRecord(watcher: string): WatcherRecord {
  return {
    watcher,
    hasToken: true,
    tokenExpiresAt: null,
    tokenUpdatedAt: null,
    loginWanted: false,
    lastSuccessAt: null,
    lastError: null,
    nextAttemptAt: null,
    pausedAt: null,
  };
}

export type ScriptedForwarding = ReturnType<typeof createScriptedForwarding>;

export const ok: DeliveryResult = { outcome: 'accepted', status: 200 };

export function refusal(status: number, retryAfterMs: number | null = null): DeliveryResult {
  return {
    outcome: 'rejected',
    status,
    retryAfterMs,
    message: `answer ${status}`,
  };
}
