import { stat } from 'node:fs/promises';
import { openThread } from '../../open-thread.js';
import { errorOfFailure, readTooLong } from './explain-failure.js';
import { PLAIN_KINDS } from './file-types.js';
import type { ParsedDocument, ParseJob, ReaderReply } from './parser-messages.js';

/** Read in some milliseconds, whatever it holds; a longer text gets a process. */
const MAX_BYTES = 64 * 1024;
const START_TIMEOUT_MS = 60_000;

/** What a text may take of the thread; beyond, it is left to a process. */
export interface PlainTextLimits {
  /** Heap in MiB; the vocabulary of the tokens takes 60. */
  heapMb: number;
  /** A text that takes longer than any should does not keep the others waiting. */
  timeoutMs: number;
}

export const defaultPlainTextLimits: PlainTextLimits = { heapMb: 192, timeoutMs: 10_000 };

/** The thread ended while it read a document, and not because this was no longer wanted. */
export class ThreadLost extends Error {}

/**
 * Whether a document may be read in a thread: what reads it is our own, and it is soon done. A file that cannot be seen
 * may not: it is for a process to complain about.
 */
export async function isSmallPlainText({ path, kind, pictures }: ParseJob): Promise<boolean> {
  if (pictures !== undefined || !PLAIN_KINDS.has(kind)) return false;
  return stat(path).then(
    ({ size }) => size <= MAX_BYTES,
    () => false,
  );
}

/** A thread that reads small plain texts, one at a time: a process costs twice as much memory for each of them. */
export interface PlainTextThread {
  readonly alive: boolean;
  /** @throws ThreadLost; AppError as a parser process does; or the signal's reason: it then starts no other document */
  run(job: ParseJob, signal: AbortSignal): Promise<ParsedDocument>;
  end(): Promise<void>;
}

/** Starts the thread. An idle one does not keep our process from exiting. */
export function startPlainTextThread(limits: PlainTextLimits): PlainTextThread {
  // What it reads comes from clients: it sees no setting and no secret of ours.
  const thread = openThread('./plain-text-program', import.meta.url, {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
  });
  thread.unref();
  let alive = true;
  /** Of the document that is being read. */
  let onReply: ((reply: ReaderReply) => void) | null = null;
  let onLost: ((lost: ThreadLost) => void) | null = null;
  const lose = (why: string, cause?: unknown): void => {
    alive = false;
    onLost?.(new ThreadLost(`the thread that reads texts ended (${why})`, { cause }));
  };
  const ready = new Promise<void>((resolve) => {
    thread.on('message', (reply: ReaderReply) => {
      if (reply.type === 'ready') resolve();
      else onReply?.(reply);
    });
  });
  thread.on('error', (error: Error & { code?: string }) => lose(error.code ?? error.name, error));
  thread.on('exit', (code) => lose(`exit ${code}`));

  const read = (job: ParseJob, signal: AbortSignal): Promise<ParsedDocument> =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (how: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        onReply = null;
        onLost = null;
        how();
      };
      /** A thread that is at work cannot be told to stop. */
      const give = (reason: unknown): void => {
        alive = false;
        settle(() => void thread.terminate().then(() => reject(reason as Error)));
      };
      const onAbort = (): void => give(signal.reason);
      const start = (): void => {
        const { timeoutMs } = job.limits;
        const began = Date.now();
        clearTimeout(timer);
        const isRefused = timeoutMs <= limits.timeoutMs;
        timer = setTimeout(
          () => give(isRefused ? readTooLong(timeoutMs) : new ThreadLost('the text took too long')),
          Math.min(timeoutMs, limits.timeoutMs),
        );
        onReply = (reply) => {
          if (reply.type === 'failed') settle(() => reject(errorOfFailure(reply)));
          if (reply.type !== 'done') return;
          const report = { ...reply.result.report, duration_ms: Date.now() - began, peak_memory_mb: null };
          settle(() => resolve({ ...reply.result, report }));
        };
        thread.postMessage({ type: 'parse', job });
      };
      signal.addEventListener('abort', onAbort, { once: true });
      onLost = (lost) => settle(() => reject(lost));
      timer = setTimeout(() => give(new ThreadLost('the thread did not start')), START_TIMEOUT_MS);
      if (!alive) return onLost(new ThreadLost('the thread is gone'));
      void ready.then(() => onLost !== null && start());
    });

  return {
    get alive() {
      return alive;
    },
    async run(job, signal) {
      signal.throwIfAborted();
      thread.ref();
      try {
        return await read(job, signal);
      } finally {
        thread.unref();
      }
    },
    async end() {
      alive = false;
      await thread.terminate();
    },
  };
}
