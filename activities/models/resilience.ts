import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../schemas/app-error.js';
import { createCircuitBreaker } from './circuit-breaker.js';
import { ProviderFailure } from './servers/provider-failure.js';
import type { FailureKind } from './servers/provider-failure.js';
import { createSemaphore } from './semaphore.js';
import type { Semaphore } from './semaphore.js';
import type { BreakerState } from '../ports/meter.js';

/** Tries of one call here; a caller that can wait longer (a workflow) tries again later. */
const TRIES = 3;
const FIRST_WAIT_MS = 200;
/** A server that asks for a longer pause is not waited for here. */
const MAX_WAIT_MS = 3000;

const MAY_PASS: ReadonlySet<FailureKind> = new Set(['connection', 'failed', 'rate-limited']);
const SERVERS_FAULT: ReadonlySet<FailureKind> = new Set(['connection', 'timeout', 'failed', 'bad-answer']);

function kindOf(error: unknown): FailureKind | null {
  return error instanceof ProviderFailure ? error.kind : null;
}

function isServersFault(error: unknown): boolean {
  const kind = kindOf(error);
  return kind !== null && SERVERS_FAULT.has(kind);
}

/** How long to wait before the next try, with full jitter; null: do not try again. */
function waitBefore(error: unknown, tried: number): number | null {
  const kind = kindOf(error);
  if (kind === null || !MAY_PASS.has(kind) || tried >= TRIES) return null;
  const asked = error instanceof ProviderFailure ? (error.retryAfterMs ?? 0) : 0;
  if (asked > MAX_WAIT_MS) return null;
  return asked + Math.random() * FIRST_WAIT_MS * 2 ** (tried - 1);
}

export interface ResilientCalls {
  run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Tried again only while nothing has come; holds its place until the stream has ended. */
  stream<T>(
    open: () => AsyncIterator<T, void, undefined>,
    signal?: AbortSignal,
  ): AsyncGenerator<T, void, undefined>;
}

/** Calls to one model endpoint: so many at once, tried again with jitter, behind a circuit breaker. */
export function createResilientCalls(options: {
  name: string;
  /** So many at once, or a place in a queue that others share. */
  concurrency: number | Semaphore;
  /** Told what its circuit breaker does. */
  onState?: (state: BreakerState) => void;
}): ResilientCalls {
  const { concurrency } = options;
  const semaphore = typeof concurrency === 'number' ? createSemaphore(concurrency) : concurrency;
  const breaker = createCircuitBreaker(options);

  const attempt = async <T>(call: () => Promise<T>): Promise<T> => {
    const passage = breaker.enter();
    try {
      const result = await call();
      passage.succeeded();
      return result;
    } catch (error) {
      if (isServersFault(error)) passage.failed();
      throw error;
    } finally {
      passage.ended();
    }
  };

  const persist = async <T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    let last: unknown;
    for (let tried = 1; ; tried += 1) {
      try {
        return await attempt(call);
      } catch (error) {
        // Our own failures have opened the circuit: they say more than that it is open.
        if (last !== undefined && error instanceof AppError) throw last;
        last = error;
        const wait = waitBefore(error, tried);
        if (wait === null) throw error;
        await sleep(wait, undefined, signal === undefined ? {} : { signal }).catch(() =>
          signal?.throwIfAborted(),
        );
      }
    }
  };

  return {
    async run(call, signal) {
      const leave = await semaphore.enter(signal);
      try {
        return await persist(call, signal);
      } finally {
        leave();
      }
    },
    async *stream<T>(open: () => AsyncIterator<T, void, undefined>, signal?: AbortSignal) {
      const leave = await semaphore.enter(signal);
      let iterator: AsyncIterator<T, void, undefined> | undefined;
      try {
        const begin = async () => {
          iterator = open();
          return iterator.next();
        };
        let step = await persist(begin, signal);
        while (step.done !== true) {
          yield step.value;
          step = await iterator!.next().catch((error: unknown) => {
            if (isServersFault(error)) breaker.fail();
            throw error;
          });
        }
      } finally {
        leave();
        await iterator?.return?.();
      }
    },
  };
}
