import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { hashVector } from '../../activities/models/builtin/hash-vector.js';
import { endServer, listenOnLoopback } from '../support/loopback-server.js';

/** A model server in the OpenAI format that answers at once: what is measured behind it is our own time. */
export interface InstantModelServer {
  url: string;
  dimension: number;
  embed(text: string): number[];
  /** From now on; without it an answer is written at once. */
  pauseBetweenWords(ms: number): void;
  /** From now on answers stop after so many words, until what this returns is called. */
  holdAfter(words: number): () => void;
  /** Chat streams that are being written now. */
  streaming(): number;
  close(): Promise<void>;
}

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index}`);

/** The built-in embedder's vector reduced to fewer dimensions: near texts stay near. */
export function reducedVector(text: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0);
  hashVector(text).forEach((value, index) => (vector[index % dimension]! += value));
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

export async function openInstantModelServer(
  options: { dimension?: number } = {},
): Promise<InstantModelServer> {
  const { dimension = 384 } = options;
  let wordPauseMs = 0;
  let streaming = 0;
  let held: { after: number; until: Promise<void> } | null = null;
  const server = createServer((request, response) => {
    void (async () => {
      const send = (value: unknown): void => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(value));
      };
      switch (`${request.method} ${request.url}`) {
        case 'GET /v1/models':
          return send({ object: 'list', data: ['embed', 'chat'].map((id) => ({ id, object: 'model' })) });
        case 'POST /v1/embeddings': {
          const { input } = (await json(request)) as { input: string | string[] };
          const data = [input].flat().map((text, index) => ({
            object: 'embedding',
            index,
            embedding: reducedVector(text, dimension),
          }));
          return send({ object: 'list', data, model: 'embed', usage: { prompt_tokens: 0, total_tokens: 0 } });
        }
        case 'POST /v1/chat/completions': {
          const { stream } = (await json(request)) as { stream?: boolean };
          // Asked on the way to an answer; what comes is no JSON, so that nothing is made of it.
          if (stream !== true)
            return send({ choices: [{ message: { content: WORDS.join(' ') }, finish_reason: 'stop' }] });
          response.setHeader('content-type', 'text/event-stream');
          streaming += 1;
          response.once('close', () => (streaming -= 1));
          const chunk = (delta: object, finish_reason: string | null): string =>
            `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'chat', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
          for (const [place, word] of WORDS.entries()) {
            if (place === held?.after) await held.until;
            if (response.destroyed) return;
            response.write(chunk({ content: `${word} ` }, null));
            if (wordPauseMs > 0) await new Promise((resolve) => setTimeout(resolve, wordPauseMs));
          }
          return void response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
        }
        default:
          response.statusCode = 404;
          return send({
            error: { message: 'no such path', type: 'invalid_request_error', param: null, code: null },
          });
      }
    })().catch(() => response.destroy());
  });
  const { url } = await listenOnLoopback(server);
  return {
    url: `${url}/v1`,
    dimension,
    embed: (text) => reducedVector(text, dimension),
    pauseBetweenWords(ms) {
      wordPauseMs = ms;
    },
    holdAfter(words) {
      let release!: () => void;
      held = { after: words, until: new Promise((resolve) => (release = resolve)) };
      return () => {
        held = null;
        release();
      };
    },
    streaming: () => streaming,
    close: () => endServer(server),
  };
}
