import type { Logger } from '../../logger.js';
import type { ProxyDeps } from '../proxy-deps.js';

/** The pushes that are being stored, so that work that can wait starts when they are done. */
export interface PushesUnderWay {
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves as soon as no push is being stored, and at the latest after so many milliseconds. */
  quietPeriod(withinMs: number): Promise<void>;
}

export function trackPushes(): PushesUnderWay {
  let pushes = 0;
  const waiting = new Set<() => void>();
  return {
    async during(work) {
      pushes += 1;
      try {
        return await work();
      } finally {
        pushes -= 1;
        if (pushes === 0) for (const go of [...waiting]) go();
      }
    },
    async quietPeriod(withinMs) {
      if (pushes === 0) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        };
        const timer = setTimeout(go, withinMs);
        waiting.add(go);
      });
    },
  };
}

/** Tells a watcher's actor that there is something new, in the background. */
export type ForwardingNotifier = (watcher: string, log: Logger) => void;

/** Calls to Temporal under way at once: more of them would slow down the pushes. */
const PARALLEL_CALLS = 8;

/** A push without end must not hold up the forwarding. */
const TIMEOUT_MS = 1000;

/**
 * Each call is a step of the actor's workflow, and one look finds whatever came by then: a watcher that pushes all the
 * time is told of once in so long. The first push after a rest is told at once.
 */
const REST_MS = 1000;

/**
 * A notification waits until no push is being stored, for a second at most: a LAPI gives up after five and never offers
 * its signals again, whereas what is stored can be forwarded a moment later. During a call for a watcher, and for a
 * rest afterwards, further notifications of that watcher become one call when the rest is over: the last push is always
 * followed by a call, and calls do not pile up when Temporal is slow. A call that fails is logged; the sweep makes it
 * good.
 */
export function createForwardingNotifier(
  call: (watcher: string) => Promise<void>,
  pushesUnderWay: PushesUnderWay,
): ForwardingNotifier {
  const due = new Map<string, Logger>();
  /** Being told, or told a moment ago. */
  const resting = new Set<string>();
  let callers = 0;

  const next = (): [string, Logger] | undefined => {
    for (const entry of due) if (!resting.has(entry[0])) return entry;
    return undefined;
  };

  const tell = async (): Promise<void> => {
    callers += 1;
    while (next() !== undefined) {
      await pushesUnderWay.quietPeriod(TIMEOUT_MS);
      // The other callers may have taken all of it meanwhile.
      const entry = next();
      if (entry === undefined) break;
      const [watcher, log] = entry;
      due.delete(watcher);
      resting.add(watcher);
      try {
        await call(watcher);
      } catch (error) {
        log.warn({ err: error, watcher }, 'the forwarding actor could not be told; the sweep will');
      }
      // A process that ends does not wait for it: the sweep finds what waits.
      setTimeout(() => endRest(watcher), REST_MS).unref();
    }
    callers -= 1;
  };

  const endRest = (watcher: string): void => {
    resting.delete(watcher);
    if (due.has(watcher) && callers < PARALLEL_CALLS) void tell();
  };

  return (watcher, log) => {
    due.set(watcher, log);
    if (!resting.has(watcher) && callers < PARALLEL_CALLS) void tell();
  };
}

/** What the actors of a watcher are told, in the background. */
export interface ForwardingNotifiers {
  /** Signals may have come, or may go again. */
  signals: ForwardingNotifier;
  /** Metrics are held. */
  metrics: ForwardingNotifier;
  /** The watcher has a newer token: whatever waited for one goes on. */
  token: ForwardingNotifier;
}

export function createForwardingNotifiers(
  deps: Pick<ProxyDeps, 'forwarding' | 'metrics'>,
  pushesUnderWay: PushesUnderWay,
): ForwardingNotifiers {
  const { forwarding } = deps;
  const signals = createForwardingNotifier((watcher) => forwarding.notifySignals(watcher), pushesUnderWay);
  const metrics = createForwardingNotifier((watcher) => forwarding.notifyMetrics(watcher), pushesUnderWay);
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
}
