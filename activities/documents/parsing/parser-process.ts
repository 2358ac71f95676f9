import { spawn } from 'node:child_process';
import { AppError } from '../../../schemas/app-error.js';
import { errorOfFailure, readTooLong } from './explain-failure.js';
import type { ParsedDocument, ParseJob, ParseProgress, ParserReply } from './parser-messages.js';
import { parserCommand } from './parser-command.js';
import { processMemory } from './process-memory.js';

const MIB = 1024 * 1024;
const WATCH_EVERY_MS = 200;
const LAST_WORDS_MS = 500;
const START_TIMEOUT_MS = 60_000;
const MAX_TIMER_MS = 2 ** 31 - 1;
const KEPT_ERROR_OUTPUT = 8 * 1024;
/** What Node, V8, Rust and C++ write when they get no more memory. */
const OUT_OF_MEMORY =
  /out of memory|memory allocation of \d+ bytes failed|bad_alloc|Array buffer allocation failed/i;

export interface RunOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ParseProgress) => void) | undefined;
}

/** One parser process. It takes one document at a time; after a failure that killed it, it is of no more use. */
export interface ParserProcess {
  readonly pid: number | undefined;
  /** False from the moment in which it is killed: an answer may still come of it, but no other document goes to it. */
  readonly alive: boolean;
  /** The memory it held after the last document, in bytes. */
  readonly rss: number;
  run(job: ParseJob, options?: RunOptions): Promise<ParsedDocument>;
  /** Kills it and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts a parser process. An idle one does not keep our process from exiting. */
export function startParserProcess(memoryMb: number): ParserProcess {
  const { command, args, env, memoryBounded } = parserCommand(memoryMb);
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let alive = true;
  let rss = 0;
  let errorOutput = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-KEPT_ERROR_OUTPUT);
  });
  /** How it ended. */
  let ended: string | null = null;
  /** Told of that: the document at work. It lets go at its end, where the promise would keep each document. */
  let onGone: ((how: string) => void) | null = null;
  const gone = new Promise<void>((resolve) => {
    const end = (how: string): void => {
      alive = false;
      ended ??= how;
      onGone?.(ended);
      resolve();
    };
    child.once('error', (error) => end(error.message));
    // `close` rather than `exit`: the last words on stderr tell a lack of memory from a crash. But a child of the
    // child (tsx has one) may hold the pipe open a little longer.
    child.once('close', (code, signal) => end(signal ?? `exit code ${code}`));
    child.once('exit', (code, signal) => {
      setTimeout(() => end(signal ?? `exit code ${code}`), LAST_WORDS_MS).unref();
    });
  });
  const ready = new Promise<void>((resolve) => child.once('message', () => resolve()));
  const setBusy = (busy: boolean): void => {
    const call = busy ? 'ref' : 'unref';
    child[call]();
    child.channel?.[call]();
    (child.stderr as unknown as { ref(): void; unref(): void })[call]();
  };
  const strike = (): void => {
    alive = false;
    child.kill('SIGKILL');
  };
  const kill = async (): Promise<void> => {
    setBusy(true);
    strike();
    await gone;
  };
  setBusy(false);

  const run = async (job: ParseJob, { signal, onProgress }: RunOptions = {}): Promise<ParsedDocument> => {
    signal?.throwIfAborted();
    setBusy(true);
    let peak = 0;
    let began = Date.now();
    let reason: unknown;
    let over = false;
    /** The first reason to kill it is the one that is told. One that comes late must not meet the next document. */
    const killFor = (why: unknown): void => {
      if (over) return;
      reason ??= why;
      strike();
    };
    const tooMuchMemory = (): AppError =>
      new AppError(
        'FILE_TOO_COMPLEX',
        'Reading the file takes more memory than is allowed; split it into several files.',
        {
          details: { limit: 'memory_mb', max: memoryMb },
        },
      );
    const onAbort = (): void => killFor(signal!.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const { timeoutMs } = job.limits;
    let deadline = setTimeout(
      () => killFor(new AppError('PARSER_CRASHED', 'The parser process did not start.')),
      START_TIMEOUT_MS,
    );
    const onTimeout = (): void => killFor(readTooLong(timeoutMs));
    const watch = setInterval(() => {
      void processMemory(child.pid!).then((bytes) => {
        peak = Math.max(peak, bytes ?? 0);
        if (peak > memoryMb * MIB) killFor(tooMuchMemory());
      });
    }, WATCH_EVERY_MS);

    let onMessage: (message: ParserReply) => void;
    const answer = new Promise<ParsedDocument>((resolve, reject) => {
      onMessage = (message) => {
        if (message.type === 'progress') return onProgress?.(message.progress);
        if (message.type === 'ready') return undefined;
        rss = message.rss;
        if (message.type === 'done') {
          const peak_memory_mb = Math.ceil(Math.max(peak, message.rss) / MIB);
          const report = { ...message.result.report, duration_ms: Date.now() - began, peak_memory_mb };
          return resolve({ ...message.result, report });
        }
        return reject(errorOfFailure(message));
      };
      child.on('message', onMessage);
    });
    const whyGone = (how: string): unknown => {
      if (reason !== undefined) return reason;
      const refused = OUT_OF_MEMORY.test(errorOutput) || (memoryBounded && peak > memoryMb * MIB * 0.9);
      if (refused) return tooMuchMemory();
      const details = { ended: how, output: errorOutput.trim().slice(-500) };
      return new AppError('PARSER_CRASHED', undefined, { details });
    };
    const death = new Promise<never>((_resolve, reject) => {
      onGone = (how) => reject(whyGone(how));
      if (ended !== null) onGone(ended);
    });
    try {
      await Promise.race([ready, death]);
      clearTimeout(deadline);
      deadline = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
      began = Date.now();
      child.send({ type: 'parse', job }, () => undefined); // a closed channel shows in `gone`
      return await Promise.race([answer, death]);
    } finally {
      over = true;
      clearTimeout(deadline);
      clearInterval(watch);
      signal?.removeEventListener('abort', onAbort);
      child.off('message', onMessage!);
      onGone = null;
      setBusy(false);
    }
  };

  return {
    pid: child.pid,
    get alive() {
      return alive;
    },
    get rss() {
      return rss;
    },
    run,
    kill,
  };
}
