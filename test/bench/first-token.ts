import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { documentClient } from '../support/document-client.js';
import { askStream, FIRST_WORD } from './ask-stream.js';
import { cranfield } from './collection.js';
import { openBenchStack } from './open-bench-stack.js';
import { endServer, listenOnLoopback } from '../support/loopback-server.js';

const PARTITION = 'beside';
const FILES = 100;
const ASKED = 20;
const MODEL = process.env['BENCH_LLM'] ?? 'smollm2';

/** Passes everything on to Ollama, and tells how long a chat took there until its first word. */
async function openTimedOllama(
  ollama: string,
): Promise<{ url: string; lastFirstMs: () => number; close(): Promise<void> }> {
  let last = NaN;
  const server = createServer((incoming, response) => {
    void (async () => {
      const isChat = incoming.url === '/api/chat';
      const from = performance.now();
      const body = await buffer(incoming);
      const leaving = new AbortController();
      response.once('close', () => leaving.abort());
      const {
        statusCode,
        headers,
        body: answer,
      } = await request(new URL(incoming.url!, ollama), {
        method: incoming.method as 'GET' | 'POST',
        ...(body.length > 0 && { body, headers: { 'content-type': 'application/json' } }),
        headersTimeout: 0,
        bodyTimeout: 0,
        signal: leaving.signal,
      });
      response.writeHead(statusCode, { 'content-type': headers['content-type'] ?? 'application/json' });
      let heard: string | null = isChat ? '' : null;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        response.write(chunk);
        if (heard === null) continue;
        heard += chunk.toString('utf8');
        if (!FIRST_WORD.test(heard)) continue;
        heard = null;
        last = performance.now() - from;
      }
      response.end();
    })().catch(() => response.destroy());
  });
  const { url } = await listenOnLoopback(server);
  return {
    url,
    lastFirstMs: () => last,
    close: () => endServer(server),
  };
}

/**
 * The time to the first word of a chat beside that of its model for the same request, seen in front of Ollama: so both
 * have the same prompt, and neither has it from the model's cache alone.
 */
export async function timeBesideModel(ollama: string): Promise<Record<string, string | number>[]> {
  const tap = await openTimedOllama(ollama);
  const stack = await openBenchStack({ OLLAMA_HOST: tap.url, MODEL, EMBEDDER_MODEL_NAME: 'all-minilm' });
  const dispatcher = new Agent();
  try {
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    const { documents, queries } = cranfield();
    const client = documentClient(stack);
    const texts = documents
      .slice(0, FILES)
      .map(({ content }, number) => ({ text: content, name: `text-${number}` }));
    for (const { text, name } of texts) {
      const task = await client.ended(await client.upload('POST', PARTITION, name, text, `${name}.txt`));
      if (task.task_state !== 'COMPLETED') throw new Error(`${name} was not indexed: ${task.task_state}`);
    }
    const times: { whole: number; model: number; ratio: number }[] = [];
    for (let number = 0; number < ASKED + 2; number += 1) {
      const whole = await askStream(stack, PARTITION, queries[number]!.text, {
        dispatcher,
        onFirst: () => 'leave',
      });
      const model = tap.lastFirstMs();
      // The first two load the model.
      if (number >= 2) times.push({ whole, model, ratio: whole / model });
    }
    const at = (share: number, of: 'whole' | 'model' | 'ratio'): number =>
      percentile(
        times.map((time) => time[of]).sort((one, other) => one - other),
        share,
      );
    const cell = (share: number): string =>
      `${at(share, 'whole').toFixed(0)} ms, the model ${at(share, 'model').toFixed(0)} ms, ${at(share, 'ratio').toFixed(2)} times`;
    return [
      {
        measured: `time to the first token of ${MODEL} behind Ollama, ${ASKED} chats`,
        p50: cell(0.5),
        p95: cell(0.95),
      },
    ];
  } finally {
    await stack.close();
    await dispatcher.close();
    await tap.close();
  }
}
