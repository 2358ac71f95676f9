import type { ProxyDeps } from '../proxy-deps.js';
import type { PushTraffic } from './push-traffic.js';
import { createWaker } from './wake-actor.js';
import type { Waker } from './wake-actor.js';

/** What the actors of a watcher are told; nobody waits for it. */
export interface Wakers {
  /** Signals may have come, or may go again. */
  signals: Waker;
  /** Metrics are held. */
  metrics: Waker;
  /** The watcher has a newer token: whatever waited for one goes on. */
  token: Waker;
}

export const createWakers = (
  deps: Pick<ProxyDeps, 'forwarding' | 'metrics'>,
  traffic: PushTraffic,
): Wakers => {
  const { forwarding } = deps;
  const signals = createWaker((watcher) => forwarding.wake(watcher), traffic);
  const metrics = createWaker((watcher) => forwarding.wakeMetrics(watcher), traffic);
  return {
    signals,
    metrics,
    token(watcher, log) {
      signals(watcher, log);
      // Most watchers have nothing held, and an actor without work costs Temporal a run for nothing.
      deps.metrics.next(watcher).then(
        (held) => held !== null && metrics(watcher, log),
        (error: unknown) =>
          log.warn({ err: error, watcher }, 'held metrics could not be looked up; the sweep will'),
      );
    },
  };
};
