/**
 * The program of a parser process: takes one document at a time from the pool over IPC. It may hang, crash or be
 * killed at any moment; nothing but its output file depends on it.
 */
import { Worker } from 'node:worker_threads';
import { AppError } from '../../../schemas/app-error.js';
import { ERROR_TABLE } from '../../../schemas/error-table.js';
import type { ParserReply, ParserRequest } from './parser-messages.js';
import { runParseJob } from './run-parse-job.js';

const KEPT_STACK = 4000;

function reply(message: ParserReply): void {
  process.send?.(message);
}

process.on('disconnect', () => process.exit(0));
// A tight native loop never sees the disconnect. Where the kernel does not kill us with our parent, a thread does.
if (process.argv.includes('--watch-parent')) {
  const watch = `const parent = process.ppid;
    setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 500);`;
  new Worker(watch, { eval: true }).unref();
}

process.on('message', (request: ParserRequest) => void handle(request));
reply({ type: 'ready' });

async function handle({ job }: ParserRequest): Promise<void> {
  try {
    const result = await runParseJob(job, (progress) => reply({ type: 'progress', progress }));
    reply({ type: 'done', result, rss: process.memoryUsage.rss() });
  } catch (error) {
    reply({ type: 'failed', ...explain(error), rss: process.memoryUsage.rss() });
  }
}

function explain(error: unknown): Omit<ParserReply & { type: 'failed' }, 'type' | 'rss'> {
  if (error instanceof AppError) return { code: error.code, message: error.message, details: error.details };
  const message = error instanceof Error ? error.message : String(error);
  // The machine's trouble (a full disk, say) is not the document's: no code, so that it is tried again.
  if (error instanceof Error && 'syscall' in error) return { code: null, message, details: {} };
  if (isTooLarge(error))
    return { code: 'FILE_TOO_COMPLEX', message: TOO_LARGE_SENTENCE, details: { limit: 'size' } };
  // What a parser knows of a file it says by a code of its own; anything else is a fault of ours.
  return {
    code: 'PARSER_INTERNAL_ERROR',
    message: ERROR_TABLE.PARSER_INTERNAL_ERROR.message,
    details: {},
    trace: error instanceof Error ? (error.stack ?? message).slice(0, KEPT_STACK) : message,
  };
}

const TOO_LARGE_SENTENCE =
  'The file is larger, or nests deeper, than its reader can hold; split it into several files.';

/** V8's words for a string, an array or a stack that cannot grow further. */
const TOO_LARGE =
  /^(?:Invalid (?:string|array|typed array|array buffer|Map|Set)|Maximum call stack|Map maximum|Set maximum|Array buffer)/i;

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && TOO_LARGE.test(error.message);
}
