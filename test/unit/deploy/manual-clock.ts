import type { Clock } from '../../../deploy/local/clock.js';

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** A clock whose time passes only in `run`, as fast as the code under test can follow. */
export class ManualClock implements Clock {
  #now = 0;
  #sleepers: Sleeper[] = [];

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { until: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason as Error);
      });
    });
  }

  /** Lets time pass, waking each sleeper in its turn. */
  async run(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const next = this.#sleepers.sort((one, other) => one.until - other.until)[0];
      if (next === undefined || next.until > end) break;
      this.#now = Math.max(this.#now, next.until);
      this.#sleepers.shift();
      next.wake();
    }
    this.#now = end;
    await settle();
  }

  /** Time passes in which nobody is woken, as for a process that is suspended. */
  jump(ms: number): void {
    this.#now += ms;
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
