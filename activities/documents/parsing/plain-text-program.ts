/** The program of the thread that reads small plain texts, one at a time. */
import { parentPort } from 'node:worker_threads';
import { explainFailure } from './explain-failure.js';
import type { ParserRequest, ReaderReply } from './parser-messages.js';
import { runParseJob } from './run-parse-job.js';

const port = parentPort!;

function reply(message: ReaderReply): void {
  port.postMessage(message);
}

port.on('message', (request: ParserRequest) => void handle(request));
reply({ type: 'ready' });

async function handle({ job }: ParserRequest): Promise<void> {
  try {
    reply({ type: 'done', result: await runParseJob(job, () => undefined) });
  } catch (error) {
    reply({ type: 'failed', ...explainFailure(error) });
  }
}
