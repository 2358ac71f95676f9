import type { Clock } from './clock.js';
import type { ProcessActivity } from './process-activity.js';

/**
 * How a process is watched; the reasons of these values are in
 * docs/decisions/025-the-launcher-watches-its-processes-by-two-signs.md.
 */
export interface WatchTimes {
  /** Between two looks at whether the process is there. */
  readonly tickMs: number;
  /** A look that comes so much too late means that the launcher itself did not run meanwhile. */
  readonly lateMs: number;
  /** Between the beginnings of two probes, and the time limit of one. */
  readonly probeEveryMs: number;
  readonly probeLimitMs: number;
  /** So long without an answer, and two probes failed: it does not answer. */
  readonly silentMs: number;
  /** What is at work all the same gets so long before it counts as hung. */
  readonly busyMs: number;
}

export const WATCH_TIMES: WatchTimes = {
  tickMs: 250,
  lateMs: 1000,
  probeEveryMs: 1000,
  probeLimitMs: 3000,
  silentMs: 7000,
  busyMs: 60_000,
};

/** A silent process that uses less of a processor than this is hung; an idle engine takes one or two percent. */
const BUSY_SHARE = 0.05;
const FAILURES_TO_TELL = 2;

export interface WatchedProcess {
  /** False ends the watch. */
  isWanted(): boolean;
  isAlive(): boolean;
  /** Called at each look at it. */
  onLook?(): void;
  /** Asks the process itself; false and a throw count as no answer. Null: only its end is noticed. */
  readonly answers: (() => Promise<boolean>) | null;
  activity(): ProcessActivity | null;
  /** It does not answer but is at work, and is given time. */
  onSlow(silentSeconds: number): void;
  /** After `onSlow`: it answers again. */
  onAnswer(): void;
}

export type Fault =
  | { readonly kind: 'ended' }
  | { readonly kind: 'silent'; readonly seconds: number; readonly state: 'stopped' | 'idle' | 'busy' };

interface Probe {
  /** As of `Silence.probe`; undefined while it is under way. */
  result: boolean | null | undefined;
}

/** Returns when the process ended or counts as hung; null when it is no longer wanted. */
// eslint-disable-next-line complexity -- one loop over what can end a process
export async function watchProcess(
  watched: WatchedProcess,
  times: WatchTimes,
  clock: Clock,
): Promise<Fault | null> {
  const { answers } = watched;
  const silence = new Silence(times, clock);
  let probe: Probe | null = null;
  let nextProbe = clock.now();
  let before: Sample | null = null;
  let toldSlow = false;
  for (;;) {
    if (!watched.isWanted()) return null;
    if (!watched.isAlive()) return { kind: 'ended' };
    watched.onLook?.();
    silence.tick();
    if (answers && probe === null && clock.now() >= nextProbe) {
      const current: Probe = { result: undefined };
      probe = current;
      nextProbe = clock.now() + times.probeEveryMs;
      void silence.probe(answers).then((result) => (current.result = result));
    }
    if (probe?.result !== undefined) {
      const { result } = probe;
      probe = null;
      if (result === true) {
        if (toldSlow) watched.onAnswer();
        toldSlow = false;
        before = null;
      } else if (result === false) {
        const now = { activity: watched.activity(), at: clock.now() };
        const state = stateOf(before, now);
        before = now;
        const seconds = Math.round(silence.ms / 1000);
        if (silence.isTold && (state !== 'busy' || silence.ms >= times.busyMs)) {
          return { kind: 'silent', seconds, state };
        }
        if (silence.isTold && !toldSlow) {
          watched.onSlow(seconds);
          toldSlow = true;
        }
      }
    }
    await clock.sleep(times.tickMs);
  }
}

/**
 * How long a process has given no answer, counted in time in which the launcher itself ran: a launcher that was
 * suspended, or got no processor, has asked nothing and so knows nothing.
 */
class Silence {
  readonly #times: WatchTimes;
  readonly #clock: Clock;
  #last: number;
  #silentMs = 0;
  #failures = 0;
  #interruptions = 0;

  constructor(times: WatchTimes, clock: Clock) {
    this.#times = times;
    this.#clock = clock;
    this.#last = clock.now();
  }

  get ms(): number {
    return this.#silentMs;
  }

  get isTold(): boolean {
    return this.#failures >= FAILURES_TO_TELL && this.#silentMs >= this.#times.silentMs;
  }

  tick(): void {
    const now = this.#clock.now();
    const passed = now - this.#last;
    this.#last = now;
    if (passed > this.#times.tickMs + this.#times.lateMs) this.#interruptions += 1;
    else this.#silentMs += passed;
  }

  /** True: answered. False: a failure that counts. Null: it failed while the launcher did not run. */
  async probe(answers: () => Promise<boolean>): Promise<boolean | null> {
    const interruptions = this.#interruptions;
    const answered = await this.#withinLimit(answers);
    this.tick();
    if (answered) {
      this.#silentMs = 0;
      this.#failures = 0;
      return true;
    }
    if (interruptions !== this.#interruptions) return null;
    this.#failures += 1;
    return false;
  }

  async #withinLimit(answers: () => Promise<boolean>): Promise<boolean> {
    const limit = new AbortController();
    const answer = Promise.resolve()
      .then(answers)
      .catch(() => false);
    const late = this.#clock.sleep(this.#times.probeLimitMs, limit.signal).then(
      () => false,
      () => false,
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      limit.abort();
    }
  }
}

interface Sample {
  readonly activity: ProcessActivity | null;
  readonly at: number;
}

/** What cannot be known counts as busy: waiting costs a minute, a restart of what only was slow costs more. */
function stateOf(before: Sample | null, now: Sample): 'stopped' | 'idle' | 'busy' {
  if (now.activity?.isStopped === true) return 'stopped';
  if (!before?.activity || !now.activity || now.activity.waitsForDisk) return 'busy';
  const demand = now.activity.demandMs - before.activity.demandMs;
  return demand >= BUSY_SHARE * (now.at - before.at) ? 'busy' : 'idle';
}
