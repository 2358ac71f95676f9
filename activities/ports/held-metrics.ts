import type { ApiVersion } from '../../schemas/signals/signals.js';

/** Metrics that CAPI could not be given, as they are kept. */
export interface HeldMetrics {
  id: string;
  /** Behind CAPI's address: `v3/usage-metrics`. */
  path: MetricsPath;
  /** Compressed with gzip. */
  bytes: Buffer;
  /** One of several parts of a larger body: they go out a minute apart. */
  part: boolean;
}

export type MetricsPath = `${ApiVersion}/${'usage-metrics' | 'metrics/'}`;

export interface MetricsQueue {
  watcher: string;
  held: number;
  oldest: Date | null;
  /** What CAPI refuses for good; shown, and dropped after a while. */
  refused: number;
}

export interface MetricsStore {
  /**
   * Keeps bodies durably, in order; the same one twice is kept once. Answers the ids of those that were not there yet.
   * `full`: the watcher has so many waiting that its own memory is the better place, and nothing was kept.
   */
  hold(watcher: string, items: readonly Omit<HeldMetrics, 'id'>[], at: Date): Promise<string[] | 'full'>;
  /** The id of the oldest; null when nothing waits. */
  next(watcher: string): Promise<{ id: string; part: boolean } | null>;
  read(id: string): Promise<HeldMetrics | null>;
  /** It is CAPI's now, or its sender's again. Doing it twice is harmless. */
  remove(id: string): Promise<void>;
  /** CAPI refuses it for good. */
  refuse(id: string, reason: string): Promise<void>;
  /** Drops what has been held since before then, whatever it waits for. */
  dropHeld(before: Date): Promise<void>;
  /** Who waits the longest comes first; without so many from the front. */
  watchersHolding(before: Date, limit: number, offset?: number): Promise<string[]>;
  queues(): Promise<MetricsQueue[]>;
}
