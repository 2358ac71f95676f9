import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { Endpoints } from './endpoints.js';

export interface DemoStage {
  readonly gateway: string;
  readonly authToken: string;
  readonly endpoints: Endpoints;
  /**
   * Whether the built-in model answers, which quotes. Of any other only the sources are checked: its words are not
   * known.
   */
  readonly quoting: boolean;
  /** Folder of the sample files. */
  readonly samples: string;
  /** One line (or several) for the person who watches. */
  print(text: string): void;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface TaskView {
  task_state: string;
  stage: string;
  progress: number;
  error?: { code: string; message: string } | null;
}

export interface FoundDocument {
  link: string;
  content: string;
  metadata: { filename: string; page: number; combined_score?: number };
}

export interface StreamedAnswer {
  text: string;
  sources: { chunk: { filename: string; page: number }; chunk_url: string }[];
}

export type DemoClient = ReturnType<typeof demoClient>;

/** The requests of the demo; each throws with the answer when the status is not the expected one. */
export function demoClient({
  gateway,
  authToken,
  signal,
}: Pick<DemoStage, 'gateway' | 'authToken' | 'signal'>) {
  const request = async (path: string, init: RequestInit, expected: number[]): Promise<Response> => {
    const response = await fetch(path.startsWith('http') ? path : `${gateway}${path}`, {
      ...init,
      signal,
      headers: { authorization: `Bearer ${authToken}`, ...init.headers },
    });
    if (!expected.includes(response.status))
      throw new Error(
        `${init.method ?? 'GET'} ${path} answered ${response.status}: ${await response.text()}`,
      );
    return response;
  };
  const json = async <T>(path: string, init: RequestInit, expected: number[]): Promise<T> =>
    (await (await request(path, init, expected)).json()) as T;

  return {
    /** Answers the status URL of the task, or null when the file is there already. */
    async upload(method: 'POST' | 'PUT', partition: string, fileId: string, path: string): Promise<string> {
      const form = new FormData();
      form.append('metadata', JSON.stringify({ collection: 'samples' }));
      form.append('file', await openAsBlob(path), basename(path));
      const body = await json<{ task_status_url: string }>(
        `/indexer/partition/${partition}/file/${fileId}`,
        { method, body: form },
        [201, 202],
      );
      return body.task_status_url;
    },

    task: (url: string) => json<TaskView>(url, {}, [200]),

    async deletePreviousRun(partition: string, fileIds: readonly string[]): Promise<void> {
      for (const fileId of fileIds)
        await request(
          `/indexer/partition/${partition}/file/${fileId}`,
          { method: 'DELETE' },
          [204, 404, 403],
        );
    },

    async search(partition: string, text: string, topK: number): Promise<FoundDocument[]> {
      const query = new URLSearchParams({ text, top_k: String(topK) });
      const { documents } = await json<{ documents: FoundDocument[] }>(
        `/search/partition/${partition}?${query.toString()}`,
        {},
        [200],
      );
      return documents;
    },

    /** Asks with `stream: true`; `onText` gets each delta as it arrives. */
    async ask(partition: string, question: string, onText: (delta: string) => void): Promise<StreamedAnswer> {
      const response = await request(
        '/v1/chat/completions',
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            model: `rag-${partition}`,
            stream: true,
            messages: [{ role: 'user', content: question }],
          }),
        },
        [200],
      );
      const answer: StreamedAnswer = { text: '', sources: [] };
      for await (const chunk of serverSentEvents(response)) {
        if (chunk.error !== undefined)
          throw new Error(`the answer broke off: ${JSON.stringify(chunk.error)}`);
        const delta = chunk.choices?.[0]?.delta?.content ?? '';
        answer.text += delta;
        if (delta !== '') onText(delta);
        if (chunk.extra?.sources !== undefined) answer.sources = chunk.extra.sources;
      }
      return answer;
    },
  };
}

interface StreamChunk {
  choices?: { delta?: { content?: string } }[];
  extra?: { sources?: StreamedAnswer['sources'] };
  error?: unknown;
}

/** The events of an OpenAI-format stream, up to `[DONE]`. */
async function* serverSentEvents(response: Response): AsyncGenerator<StreamChunk> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    rest += decoder.decode(bytes as Uint8Array, { stream: true });
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const event = rest.slice(0, end);
      rest = rest.slice(end + 2);
      // A stream that is silent for a while sends comments, so that proxies keep it.
      if (event.startsWith(':')) continue;
      const data = event.replace(/^data: /, '');
      if (data === '[DONE]') return;
      yield JSON.parse(data) as StreamChunk;
    }
  }
  throw new Error('the stream ended without [DONE]');
}
