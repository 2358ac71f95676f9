import { createFairPlaces } from './fair-places.js';
import { checkChunkingOptions } from './chunk.js';
import type { ChunkingOptions } from './chunk.js';
import { PLAIN_KINDS } from './file-types.js';
import type { FileKind } from './file-types.js';
import { createMemoryLock } from './memory-lock.js';
import { defaultParseLimits } from './parse-limits.js';
import type { ParseLimits } from './parse-limits.js';
import { defaultPictureLimits } from './pictures/picture-limits.js';
import type { PictureLimits } from './pictures/picture-limits.js';
import type { ParsedDocument, ParseJob, ParseProgress } from './parser-messages.js';
import { startParserProcess } from './parser-process.js';
import type { ParserProcess, RunOptions } from './parser-process.js';
import { createPlainTextReader } from './plain-text-reader.js';
import { defaultPlainTextLimits, isSmallPlainText, ThreadLost } from './plain-text-thread.js';
import type { PlainTextLimits } from './plain-text-thread.js';
import { processMemory } from './process-memory.js';

export type { ParsedDocument, ParseProgress } from './parser-messages.js';

export interface TextRequest {
  /** Local file with the document's bytes. */
  path: string;
  kind: FileKind;
  /** Where the text goes, as UTF-8. Written anew. */
  outputPath: string;
  /** A longer text is refused. */
  maxCharacters: number;
  /** Tighter limits for this document; the memory is the pool's. */
  limits?: Partial<Omit<ParseLimits, 'memoryMb'>>;
  /** Kills the parser at once; the call rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For whom: the user with the fewest documents being read comes first when a place is free. */
  userId?: number;
}

export interface ParseRequest extends Omit<TextRequest, 'maxCharacters'> {
  filename: string;
  /** Where the chunks go: JSON lines, one `ParsedChunk` each. Written anew. */
  outputPath: string;
  chunking: ChunkingOptions;
  /** Takes out the document's pictures as well, into files `0`, `1`, … of a directory. */
  pictures?: { directory: string; limits?: Partial<PictureLimits> };
  /** Takes out the attachments of a mail as well, likewise. */
  attachments?: { directory: string };
  onProgress?: (progress: ParseProgress) => void;
}

/**
 * Reads documents in child processes, since parsers hang, crash and eat memory on bad input; small plain texts, which
 * our own lines read, in a thread.
 */
export interface ParserPool {
  /**
   * Parses a document and cuts it into chunks. Waits for a free process, or the thread, users in fair turns; the time
   * limit counts from then.
   * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX, UNSUPPORTED_CONTENT, PARSE_TIMEOUT,
   *   PARSER_CRASHED; or the signal's reason. A document without text is no error here: `chunkCount` is 0.
   */
  parseAndChunk(request: ParseRequest): Promise<ParsedDocument>;
  /**
   * Parses a document and writes its text down, within the same limits.
   * @throws AppError as above; PAYLOAD_TOO_LARGE for a text that is too long
   */
  extractText(request: TextRequest): Promise<ParsedDocument>;
  /**
   * Draws a page of a PDF as a PNG, and tells where a passage stands on it (`picture`).
   * @throws AppError as above; NOT_FOUND, plain, for a page that is not there
   */
  drawPage(
    request: Omit<TextRequest, 'maxCharacters' | 'kind'> & { page: number; passage: string },
  ): Promise<ParsedDocument>;
  /** New processes and a new thread for what comes next; what is being read is read to its end by the old. */
  renew(): void;
  /** Ends the thread, kills all processes, waits until they are gone; calls under way and later ones reject. */
  close(): Promise<void>;
}

export interface ParserPoolOptions {
  /** Documents read at once by processes. */
  size: number;
  limits?: Partial<ParseLimits>;
  /**
   * Memory of all processes together in MiB, at least that of one; without it each may have its own. Beyond, idle
   * processes end, and then what was begun last is read again by itself once the others are done.
   */
  totalMemoryMb?: number;
  /**
   * A process is replaced after so many documents (100) whose formats are read by code of others, or when it keeps a
   * third of its memory afterwards.
   */
  documentsPerProcess?: number;
  /** What a small plain text may take of the thread. */
  plainTextLimits?: Partial<PlainTextLimits>;
  /** For tests and metrics: told of each process that starts. */
  onStart?: (process: ParserProcess) => void;
}

const MIB = 1024 * 1024;
const WATCH_EVERY_MS = 200;

/** Why a process ended for whose document nothing is wrong. */
class MemoryNeeded extends Error {}

/** Processes start when they are needed and stay for the next document. An idle pool does not hold the program. */
export function createParserPool(options: ParserPoolOptions): ParserPool {
  const limits: ParseLimits = { ...defaultParseLimits, ...options.limits };
  const idle: ParserProcess[] = [];
  const busy = new Set<ParserProcess>();
  /** Not taken again. */
  const old = new WeakSet<ParserProcess>();
  const places = createFairPlaces(options.size);
  const texts = createPlainTextReader({ ...defaultPlainTextLimits, ...options.plainTextLimits });
  let closed: Error | null = null;
  /** Of the documents at work. One signal for all of them, joined with each one's own, would keep a mark of each. */
  const stops = new Set<AbortController>();
  const lock = createMemoryLock();
  const total = Math.max(options.totalMemoryMb ?? Infinity, limits.memoryMb) * MIB;
  /** Runs that share the memory, in the order of their beginning. */
  const yielding = new Map<ParserProcess, AbortController>();

  const memoryOf = async (processes: Iterable<ParserProcess>): Promise<number> => {
    const sizes = await Promise.all([...processes].map(async ({ pid }) => (await processMemory(pid!)) ?? 0));
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  let looking = false;
  const keepWithinTotal = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      if ((await memoryOf([...busy, ...idle])) <= total) return;
      const resting = idle.splice(0);
      await Promise.all(resting.map((process) => process.kill()));
      if (resting.length > 0) return;
      const last = [...yielding.keys()].at(-1);
      if (busy.size < 2 || last === undefined) return;
      yielding.get(last)!.abort(new MemoryNeeded());
      yielding.delete(last);
    } finally {
      looking = false;
    }
  };

  const take = (): ParserProcess => {
    for (let process = idle.pop(); process; process = idle.pop()) if (process.alive) return process;
    const process = startParserProcess(limits.memoryMb);
    options.onStart?.(process);
    return process;
  };
  /** Documents of formats that wear a process. */
  const read = new WeakMap<ParserProcess, number>();
  const isWorn = (process: ParserProcess): boolean =>
    old.has(process) ||
    (read.get(process) ?? 0) >= (options.documentsPerProcess ?? 100) ||
    process.rss > (limits.memoryMb * 1024 * 1024) / 3;

  const runProcess = async (
    job: ParseJob,
    run: RunOptions,
    shared?: AbortController,
  ): Promise<ParsedDocument> => {
    const process = take();
    busy.add(process);
    // What our own lines read leaves nothing behind, and a start costs as much as hundreds of these.
    if (!PLAIN_KINDS.has(job.kind)) read.set(process, (read.get(process) ?? 0) + 1);
    if (shared) yielding.set(process, shared);
    const watch = Number.isFinite(total)
      ? setInterval(() => void keepWithinTotal(), WATCH_EVERY_MS)
      : undefined;
    try {
      return await process.run(job, run);
    } finally {
      clearInterval(watch);
      yielding.delete(process);
      busy.delete(process);
      if (closed !== null || !process.alive || isWorn(process)) await process.kill();
      else idle.push(process);
    }
  };

  /** Beside others. @throws MemoryNeeded when these are to go on without it */
  const runJob = async (
    job: ParseJob,
    signal: AbortSignal,
    onProgress: RunOptions['onProgress'],
  ): Promise<ParsedDocument> => {
    const letGo = await lock.share(signal);
    const shared = new AbortController();
    try {
      return await runProcess(job, { signal: AbortSignal.any([signal, shared.signal]), onProgress }, shared);
    } finally {
      letGo();
    }
  };

  const readInProcess = async (
    job: ParseJob,
    userId: number | null,
    signal: AbortSignal,
    onProgress: RunOptions['onProgress'],
  ): Promise<ParsedDocument> => {
    const release = await places.take(userId, signal);
    try {
      return await runJob(job, signal, onProgress);
    } catch (error) {
      if (!(error instanceof MemoryNeeded)) throw error;
      const letGo = await lock.takeAll(signal);
      try {
        return await runProcess(job, { signal, onProgress });
      } finally {
        letGo();
      }
    } finally {
      release();
    }
  };

  /** Null for what needs a process, a text among it that was too much for the thread: there its own limits count. */
  const readInThread = async (
    job: ParseJob,
    userId: number | null,
    signal: AbortSignal,
  ): Promise<ParsedDocument | null> => {
    if (!(await isSmallPlainText(job))) return null;
    return texts.read(job, userId, signal).catch((error: unknown) => {
      if (error instanceof ThreadLost) return null;
      throw error;
    });
  };

  const run = async (
    request: Pick<
      ParseRequest,
      | 'path'
      | 'kind'
      | 'outputPath'
      | 'limits'
      | 'signal'
      | 'onProgress'
      | 'pictures'
      | 'attachments'
      | 'userId'
    >,
    output: ParseJob['output'],
  ): Promise<ParsedDocument> => {
    const { path, kind, outputPath, attachments, onProgress } = request;
    const pictures = request.pictures && {
      directory: request.pictures.directory,
      limits: { ...defaultPictureLimits, ...request.pictures.limits },
    };
    const stop = new AbortController();
    if (closed !== null) stop.abort(closed);
    const signal = request.signal ? AbortSignal.any([request.signal, stop.signal]) : stop.signal;
    // Where OCR is off, no document switches it on.
    const ocr = limits.ocrLanguages.length === 0 ? { ocrLanguages: limits.ocrLanguages } : {};
    const job = {
      path,
      kind,
      outputPath,
      output,
      pictures,
      attachments,
      limits: { ...limits, ...request.limits, ...ocr },
    };
    stops.add(stop);
    const userId = request.userId ?? null;
    try {
      return (
        (await readInThread(job, userId, signal)) ?? (await readInProcess(job, userId, signal, onProgress))
      );
    } finally {
      stops.delete(stop);
    }
  };

  return {
    async parseAndChunk(request) {
      checkChunkingOptions(request.chunking);
      return run(request, { chunking: request.chunking });
    },
    extractText: (request) => run(request, { maxCharacters: request.maxCharacters }),
    drawPage: ({ page, passage, ...request }) => run({ ...request, kind: 'pdf' }, { page, passage }),
    renew() {
      texts.renew();
      for (const process of busy) old.add(process);
      for (const process of idle.splice(0)) void process.kill();
    },
    async close() {
      closed = new Error('the parser pool is closed');
      for (const stop of stops) stop.abort(closed);
      await Promise.all([texts.close(), ...[...idle.splice(0), ...busy].map((process) => process.kill())]);
    },
  };
}
