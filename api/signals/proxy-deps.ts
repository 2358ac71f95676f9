import type Koa from 'koa';
import type { z } from 'zod';
import type { Cache } from '../../activities/ports/cache.js';
import type { CapiPassThrough } from './relay/capi-pass-through.js';
import type { GeoLookup } from '../../activities/signals/reading/geo-lookup.js';
import type { SavedRuleStore } from '../../activities/ports/saved-rules.js';
import type { RuleSet } from '../../activities/signals/rules/rule-registry.js';
import type { MetricsStore } from '../../activities/ports/held-metrics.js';
import type {
  AlertStore,
  ApiKeyStore,
  ForwardingStarter,
  StatisticsStore,
  DecisionCopyStore,
  WatcherStore,
} from '../../activities/ports/signals.js';
import type { Meter } from '../../activities/ports/meter.js';
import type { IpInfo } from '../../activities/ports/ip-info.js';
import type { LoginStore } from '../../activities/ports/logins.js';
import type { LapiServer } from '../../schemas/signals/proxy-api.js';
import type { ApiKeyRateLimit } from './management/api-key-rate-limit.js';

/** Who may use the proxy side, and whether tokens are checked with CAPI; everything is off by default. */
export interface AccessSettings {
  /** Null: every watcher. */
  watchers: readonly string[] | null;
  /** CIDR ranges or addresses; null: every network. */
  networks: readonly string[] | null;
  validation: {
    enabled: boolean;
    /** How long CAPI's yes counts, at most until the token ends; and how long no answer counts as one. */
    ttlMs: number;
    ttlOnErrorMs: number;
    timeoutMs: number;
    /** Without an answer of CAPI: refuse instead of letting pass. */
    failClosed: boolean;
    maxEntries: number;
  };
}

/** What the proxy routes need of the outside. */
export interface ProxyDeps {
  alerts: AlertStore;
  statistics: StatisticsStore;
  keys: ApiKeyStore;
  savedRules: SavedRuleStore;
  ipInfo: Pick<IpInfo, 'lookup'>;
  /** For requests without a valid key. */
  unauthenticated: ApiKeyRateLimit;
  /** Where a request comes from, behind trusted proxies as well. */
  addressOf(ctx: Koa.Context): string;
  watchers: WatcherStore;
  logins: LoginStore;
  copies: DecisionCopyStore;
  metrics: MetricsStore;
  forwarding: ForwardingStarter;
  /** Asked at each batch, so that rules may change while the gateway runs. */
  rules: { current(): RuleSet; reload(): Promise<void> };
  /** What is counted of pushes; unset: nothing. */
  meter?: Meter;
  /** Null: places are what the signals themselves tell. */
  geo: GeoLookup | null;
  passThrough: CapiPassThrough['passThrough'];
  /** Digests of tokens that CAPI took, for the client validation. */
  validated: Cache;
  settings: {
    /** Null: every call of the management side is refused. */
    dashboardApiKey: string | null;
    /** After decompression. */
    maxSignalBytes: number;
    /** Of usage metrics, after decompression. */
    maxMetricsBytes: number;
    /** Alerts are kept so long, and signals in quarantine; 0: for good. */
    retentionDays: number;
    quarantineDays: number;
    /** Off: signals are stored and withheld. */
    forwardEnabled: boolean;
    /** So many logins go to CAPI within the window, over all watchers; 0: any number. */
    loginBudget: number;
    loginWindowMs: number;
    /** Watchers that CAPI never let in and that have a record, of one address; 0: any number. */
    unknownPerAddress: number;
    /** Since their last push they are kept so long. */
    unknownLifetimeMs: number;
    access: AccessSettings;
    lapiServers: readonly z.output<typeof LapiServer>[];
  };
  now(): Date;
}
