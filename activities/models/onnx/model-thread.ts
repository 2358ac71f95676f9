import { openThread } from '../../open-thread.js';
import { ProviderFailure } from '../servers/provider-failure.js';
import type { FromThread, ModelPaths, ToThread } from './thread-messages.js';

/** A model that takes longer to load is given up. */
const LOAD_MS = 120_000;

export interface ThreadOptions {
  /** Milliseconds without a call after which it ends. */
  idleMs: number;
  /** Milliseconds that a call which was left may go on computing before the thread is ended by force. */
  graceMs: number;
  /** Told once, when it takes no calls any more; it is gone when the promise is kept. */
  onEnd: (gone: Promise<unknown>) => void;
}

/** A model in a thread of its own. */
export interface ModelThread {
  /** Rejects with ProviderFailure when the model cannot be loaded. */
  ready: Promise<void>;
  /** @throws ProviderFailure, or the signal's reason when aborted */
  score(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>;
  end(): void;
}

interface Caller {
  resolve(scores: number[]): void;
  reject(reason: unknown): void;
}

/** Starts the thread, which loads the model at once. */
export function startModelThread(paths: ModelPaths, { idleMs, graceMs, onEnd }: ThreadOptions): ModelThread {
  const worker = openThread('./rerank-thread', import.meta.url, { workerData: paths });
  const callers = new Map<number, Caller>();
  /** Calls that were left and that the thread has not answered yet. */
  const abandoned = new Map<number, NodeJS.Timeout>();
  let stopped: Promise<unknown> | null = null;
  let nextId = 0;
  let idle: NodeJS.Timeout | undefined;
  const loaded = withResolvers();
  // Calls that wait for it hear of it; without one it is no unhandled rejection.
  loaded.promise.catch(() => undefined);

  const end = (reason: ProviderFailure): void => {
    if (stopped !== null) return;
    stopped = worker.terminate();
    clearTimeout(idle);
    clearTimeout(loading);
    for (const timer of abandoned.values()) clearTimeout(timer);
    loaded.reject(reason);
    for (const caller of callers.values()) caller.reject(reason);
    callers.clear();
    onEnd(stopped);
  };
  const post = (message: ToThread): void => worker.postMessage(message);
  const rest = (): void => {
    if (callers.size > 0 || stopped !== null) return;
    worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => end(new ProviderFailure('failed', 'the model was idle')), idleMs).unref();
  };
  const settle = (id: number, how: (caller: Caller) => void): void => {
    clearTimeout(abandoned.get(id));
    abandoned.delete(id);
    const caller = callers.get(id);
    callers.delete(id);
    if (caller !== undefined) how(caller);
    rest();
  };
  const crashed = (why: string, cause?: unknown): void =>
    end(new ProviderFailure('failed', `the thread of the model '${paths.name}' ended (${why})`, { cause }));

  const loading = setTimeout(() => {
    end(new ProviderFailure('failed', `the model '${paths.name}' was not loaded within ${LOAD_MS / 1000} s`));
  }, LOAD_MS).unref();
  worker.on('message', (message: FromThread) => {
    switch (message.kind) {
      case 'ready':
        clearTimeout(loading);
        loaded.resolve();
        return rest();
      case 'unusable':
        return end(
          new ProviderFailure('refused', `the model '${paths.name}' cannot be used: ${message.problem}`),
        );
      case 'scores':
        return settle(message.id, ({ resolve }) => resolve(message.scores));
      case 'failed': {
        const failure = new ProviderFailure(
          'bad-answer',
          `the model '${paths.name}' failed: ${message.problem}`,
        );
        return settle(message.id, ({ reject }) => reject(failure));
      }
      case 'cancelled':
        return settle(message.id, () => undefined);
    }
  });
  worker.on('error', (error: Error & { code?: string }) => crashed(error.code ?? error.name, error));
  worker.on('exit', (code) => crashed(`exit ${code}`));

  return {
    ready: loaded.promise,
    score(query, texts, signal) {
      const id = nextId++;
      return new Promise<number[]>((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        let posted = false;
        const onAbort = (): void => {
          callers.delete(id);
          reject(signal?.reason);
          if (posted && stopped === null) {
            post({ kind: 'cancel', id });
            const stuck = (): void => crashed('it did not stop computing');
            abandoned.set(id, setTimeout(stuck, graceMs).unref());
          }
          rest();
        };
        const done =
          <Value>(settled: (value: Value) => void) =>
          (value: Value): void => {
            signal?.removeEventListener('abort', onAbort);
            settled(value);
          };
        signal?.addEventListener('abort', onAbort, { once: true });
        clearTimeout(idle);
        worker.ref();
        callers.set(id, { resolve: done(resolve), reject: done(reject) });
        loaded.promise.then(
          () => {
            if (!callers.has(id)) return;
            posted = true;
            post({ kind: 'score', id, query, texts });
          },
          // Ending it has told the caller.
          () => undefined,
        );
      });
    },
    end: () => end(new ProviderFailure('refused', 'the service is being stopped')),
  };
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve!: () => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
