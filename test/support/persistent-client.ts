import { documentClient } from './document-client.js';
import { generatedText } from './generated-text.js';
import { persist } from './kill-tools.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

export const DOC = 'doc';

/** What a client of the service does and sees, whatever is killed meanwhile. */
export function persistentClient(stack: RunningStack) {
  const client = documentClient(stack);
  const form = (fields: Record<string, string>): FormData => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return body;
  };
  const call = (method: string, path: string, done: readonly number[], fields?: Record<string, string>) =>
    persist(async () => {
      const body = fields === undefined ? {} : { body: form(fields) };
      const response = await stack.request(path, { method, ...body });
      const text = await response.text();
      if (!done.includes(response.status)) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    });
  /** The URL of the task, also where the answer to an earlier try was lost. */
  const upload = (method: 'POST' | 'PUT', id: string, seed: number, paragraphs: number) =>
    persist(async () => {
      const text = generatedText(seed, paragraphs);
      const response = await client.send(method, id, DOC, text, `${DOC}.txt`, { of: seed });
      const body = (await response.json()) as {
        task_status_url?: string;
        extra?: { task_status_url?: string };
      };
      const url = body.task_status_url ?? body.extra?.task_status_url;
      if (url === undefined) throw new Error(`${method} answered ${response.status} ${JSON.stringify(body)}`);
      return url;
    });
  const status = (path: string) => persist(async () => (await stack.request(path)).status);
  const state = (url: string) => persist(async () => (await client.task(url)).task_state);
  const taskOf = (url: string) => stack.adapters.tasks.get(url.split('/').at(-1)!);
  return {
    call,
    upload,
    status,
    state,
    taskOf,
    ended: (url: string) =>
      until(
        `${url} has ended`,
        async () => {
          const now = await state(url);
          return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(now) && now;
        },
        { withinMs: 240_000, everyMs: 100 },
      ),
    embedding: (url: string) =>
      until(
        `${url} is being embedded`,
        async () => {
          const task = await taskOf(url);
          return task!.stage === 'embed' || task!.finished_at !== null;
        },
        { withinMs: 240_000, everyMs: 5 },
      ),
    /** Which texts a search in the partition finds. */
    found: async (id: string, seed: number): Promise<string[]> =>
      persist(async () => {
        const query = { text: `Document ${seed}, paragraph 1`, top_k: '50' };
        const hits = await client.search(`/search/partition/${id}`, query);
        const seeds = hits.flatMap(({ content }) => [...content.matchAll(/Document (\d+),/g)]);
        return [...new Set(seeds.map(([, seed]) => seed!))].sort();
      }),
  };
}
