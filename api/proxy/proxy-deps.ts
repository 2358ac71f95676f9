import type { z } from 'zod';
import type { CapiPassThrough } from '../../activities/capi/capi-pass-through.js';
import type { CompiledRule, FilterMode } from '../../activities/capi/rules/compiled-rule.js';
import type { RuleFault } from '../../activities/capi/rules/load-rules.js';
import type { AlertStore, ForwardingStarter, WatcherStore } from '../../activities/proxy-ports.js';
import type { LapiServer } from '../../schemas/proxy-api.js';

/** The rules in force, and what could not be used of the files. */
export interface RulesInForce {
  rules: readonly CompiledRule[];
  mode: FilterMode;
  faults: readonly RuleFault[];
}

/** What the proxy routes need of the outside. */
export interface ProxyDeps {
  alerts: AlertStore;
  watchers: WatcherStore;
  forwarding: ForwardingStarter;
  /** Asked at each batch, so that rules may change while the gateway runs. */
  rules: { current(): RulesInForce };
  passThrough: CapiPassThrough['passThrough'];
  settings: {
    /** Null: every call of the management side is refused. */
    dashboardApiKey: string | null;
    /** After decompression. */
    maxSignalBytes: number;
    /** Off: signals are stored and withheld. */
    forwardEnabled: boolean;
    lapiServers: readonly z.output<typeof LapiServer>[];
  };
  now(): Date;
}
