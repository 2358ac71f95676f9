import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

export interface TaskStatus {
  task_id: string;
  task_state: string;
  stage: string;
  progress: number;
  attempt: number;
  error?: { code: string; message: string } | null;
}

/** The requests of a client of the document API, as a test writes them. */
export function documentClient(stack: Pick<RunningStack, 'request'>) {
  const send = (
    method: 'POST' | 'PUT',
    partition: string,
    fileId: string,
    content: string | Uint8Array<ArrayBuffer>,
    filename: string,
    metadata: object = {},
  ): Promise<Response> => {
    const form = new FormData();
    form.append('metadata', JSON.stringify(metadata));
    form.append('file', new Blob([content]), filename);
    return stack.request(`/indexer/partition/${partition}/file/${fileId}`, { method, body: form });
  };

  const task = async (statusUrl: string): Promise<TaskStatus> =>
    (await (await stack.request(statusUrl)).json()) as TaskStatus;

  return {
    send,
    task,
    /** Uploads and answers the task's status URL. */
    async upload(...args: Parameters<typeof send>): Promise<string> {
      const response = await send(...args);
      const body = (await response.json()) as { task_status_url?: string };
      if (body.task_status_url === undefined)
        throw new Error(`upload answered ${response.status} ${JSON.stringify(body)}`);
      return body.task_status_url;
    },
    /** Waits for a final state. */
    ended: (statusUrl: string, withinMs = 120_000): Promise<TaskStatus> =>
      until(
        `${statusUrl} has ended`,
        async () => {
          const status = await task(statusUrl);
          return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status.task_state) && status;
        },
        { withinMs },
      ),
    async search(path: string, query: Record<string, string>) {
      const response = await stack.request(`${path}?${new URLSearchParams(query).toString()}`);
      const body = (await response.json()) as {
        documents: { link: string; content: string; metadata: Record<string, unknown> }[];
      };
      return body.documents;
    },
  };
}
