import type { EndpointDraft, EndpointInspection } from '../../ports/model-administration.js';
import type { RerankerServer } from '../servers/reranker-server.js';
import { ProviderFailure } from '../servers/provider-failure.js';
import { findModelFiles, listModels } from './model-files.js';
import type { ModelFiles } from './model-files.js';
import { startModelThread } from './model-thread.js';
import type { ModelThread } from './model-thread.js';

/** A model without a call for so long gives its memory back. */
const IDLE_MS = 5 * 60_000;
/** A call that was left computes on for at most one run of the graph, which takes seconds; this one does not end. */
const GRACE_MS = 60_000;
/** A model that could not be loaded is not tried again at once, unless its files have changed. */
const AGAIN_MS = 30_000;
/** An administrator waits for the answer. */
const MAX_INSPECTION_MS = 10_000;

/** Cross-encoders from a folder, each in a thread of this process that is there while it is needed. */
export interface OnnxModels {
  /** Speaks to the model that a call names, as to a server. */
  reranker: RerankerServer;
  /** What the folder holds, and whether the model can be used, for an administrator. */
  inspect(
    draft: Pick<EndpointDraft, 'model_name' | 'timeout'>,
    signal?: AbortSignal,
  ): Promise<EndpointInspection>;
  close(): Promise<void>;
}

interface Tried {
  fingerprint: string;
  /** Null: it was loaded. */
  failure: ProviderFailure | null;
  at: number;
}

/** Rejects with the signal's reason as soon as it aborts; what is waited for goes on. */
function orAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * @param options.folder MODELS_DIR; null: every call fails and says so
 */
export function createOnnxModels(options: {
  folder: string | null;
  idleMs?: number;
  graceMs?: number;
}): OnnxModels {
  const { folder, idleMs = IDLE_MS, graceMs = GRACE_MS } = options;
  /** By fingerprint: a model whose files were replaced is another one, and the former ends when it has been idle. */
  const threads = new Map<string, ModelThread>();
  /** Ended, and not gone yet: what is compiled of the runtime meanwhile is finished first. */
  const ending = new Set<Promise<unknown>>();
  /** By name: how loading it went last. */
  const tried = new Map<string, Tried>();
  let closed = false;

  const threadOf = (files: ModelFiles): ModelThread => {
    const { name, fingerprint } = files;
    const running = threads.get(fingerprint);
    if (running !== undefined) return running;
    const before = tried.get(name);
    if (before?.fingerprint === fingerprint && before.failure !== null && Date.now() - before.at < AGAIN_MS)
      throw before.failure;
    if (closed) throw new ProviderFailure('refused', 'the service is being stopped');
    const onEnd = (gone: Promise<unknown>): void => {
      threads.delete(fingerprint);
      ending.add(gone);
      void gone.finally(() => ending.delete(gone));
    };
    const thread = startModelThread(files, { idleMs, graceMs, onEnd });
    threads.set(fingerprint, thread);
    const remember = (failure: ProviderFailure | null): void =>
      void tried.set(name, { fingerprint, failure, at: Date.now() });
    thread.ready.then(
      () => remember(null),
      (error: unknown) => {
        if (error instanceof ProviderFailure && error.kind === 'refused') remember(error);
      },
    );
    return thread;
  };

  const check = async (name: string, signal?: AbortSignal): Promise<void> => {
    const files = await findModelFiles(folder, name);
    const before = tried.get(name);
    // Asked every few seconds: a model that was loaded once need not be in memory to be well.
    if (before?.fingerprint === files.fingerprint && before.failure === null) return;
    await orAborted(threadOf(files).ready, signal);
  };

  return {
    reranker: {
      async score({ model, query, texts }, signal) {
        const files = await findModelFiles(folder, model);
        return threadOf(files).score(query, texts, signal);
      },
      check,
    },
    async inspect({ model_name: name, timeout }, signal) {
      const answer = { reachable: true, modelFound: null, transcriptionSupported: null, detail: null };
      const budget = AbortSignal.timeout(Math.min(timeout * 1000, MAX_INSPECTION_MS));
      let served: string[] = [];
      try {
        served = await listModels(folder);
        await check(name, AbortSignal.any([budget, ...(signal === undefined ? [] : [signal])]));
        return { ...answer, modelFound: true, modelsServed: served };
      } catch (error) {
        signal?.throwIfAborted();
        const known = error instanceof ProviderFailure;
        if (!known && !budget.aborted) throw error;
        return {
          ...answer,
          // As of a server: one without this model is there, one that cannot be asked is not.
          reachable: known && error.kind === 'unknown-model',
          modelFound: served.includes(name),
          modelsServed: served,
          detail: known ? error.message : 'The model is still being loaded.',
        };
      }
    },
    async close() {
      closed = true;
      for (const thread of threads.values()) thread.end();
      await Promise.all(ending);
    },
  };
}
