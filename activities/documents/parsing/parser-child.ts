/**
 * The program of a parser process: takes one document at a time from the pool over IPC. It may hang, crash or be
 * killed at any moment; nothing but its output file depends on it.
 */
import { Worker } from 'node:worker_threads';
import { explainFailure } from './explain-failure.js';
import type { ParserReply, ParserRequest } from './parser-messages.js';
import { runParseJob } from './run-parse-job.js';

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
    reply({ type: 'failed', ...explainFailure(error), rss: process.memoryUsage.rss() });
  }
}
