import type { ApiVersion } from '../../schemas/signals/signals.js';
import type { MetricsPath } from './held-metrics.js';

/** How CAPI took a batch. */
export type DeliveryResult =
  | { outcome: 'accepted'; status: number }
  | { outcome: 'rejected'; status: number; retryAfterMs: number | null; message: string }
  /** No status line of CAPI arrived, at most one of what stands in front of it: it may have been taken. */
  | { outcome: 'unknown'; message: string }
  /** The connection was never made: it was not taken. */
  | { outcome: 'unreachable'; message: string };

export interface CapiClient {
  /** POST of metrics that are compressed already; the outcomes are those of signals. */
  sendMetrics(
    path: MetricsPath,
    zipped: Buffer,
    token: string,
    signal?: AbortSignal,
  ): Promise<DeliveryResult>;
  /** POST /{version}/signals. A 2xx status line is enough unless headers come that are not CAPI's. */
  sendSignals(
    version: ApiVersion,
    body: string,
    token: string,
    signal?: AbortSignal,
  ): Promise<DeliveryResult>;
}
