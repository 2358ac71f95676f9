import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a request to a model server is for. */
export type Purpose = 'embed' | 'chat' | 'models' | 'describe' | 'rerank' | 'transcribe';

/** How the server misbehaves at one request; a stream first says `afterWords` words as it should. */
export type Behaviour =
  | { kind: 'delay'; ms: number }
  | { kind: 'status'; status: number; body?: string; headers?: Record<string, string> }
  /** Takes the request and never answers. */
  | { kind: 'silence' }
  /** 200 and a page of HTML, as a proxy in the way would. */
  | { kind: 'html' }
  /** 200 and half an object. */
  | { kind: 'broken-json'; afterWords?: number }
  /** The connection is cut. */
  | { kind: 'cut'; afterWords?: number }
  /** The stream says nothing more and stays open. */
  | { kind: 'pause'; afterWords: number }
  /** The stream ends with an error of the server. */
  | { kind: 'error'; afterWords: number; message?: string }
  /** The stream ends without saying that it has ended. In the OpenAI format `finish` is what each event says of it. */
  | { kind: 'no-finish'; afterWords: number; finish?: '' }
  /** The answer ends well in form; in the OpenAI format, for this reason. */
  | { kind: 'finish'; afterWords: number; reason: string }
  /** Embeddings of another length, too few of them, or none at all. */
  | { kind: 'vectors'; dimension?: number; drop?: number }
  /** A ranking that leaves out the last text, or names one twice. */
  | { kind: 'ranking'; fault: 'short' | 'twice' };

export interface RecordedRequest {
  purpose: Purpose;
  dialect: 'ollama' | 'openai' | 'reranker';
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** The client closed the connection before the answer was complete. */
  aborted: boolean;
  /** Words of the answer that went out. */
  said: number;
}

const HTML = '<!doctype html><title>Gateway</title><h1>It works!</h1>';

/** Behaviours that need no knowledge of the dialect. True when the request is done with. */
export function misbehave(behaviour: Behaviour | undefined, response: ServerResponse): boolean {
  switch (behaviour?.kind) {
    case 'status':
      response
        .writeHead(behaviour.status, { 'content-type': 'application/json', ...behaviour.headers })
        .end(behaviour.body ?? JSON.stringify({ error: `scripted ${behaviour.status}` }));
      return true;
    case 'silence':
      return true;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end(HTML);
      return true;
    case 'broken-json':
      if (behaviour.afterWords !== undefined) return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"embeddings": [[0.1, ');
      return true;
    case 'cut':
      if (behaviour.afterWords !== undefined) return false;
      response.destroy();
      return true;
    default:
      return false;
  }
}
