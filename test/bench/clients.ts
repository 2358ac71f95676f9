import type { documentClient } from '../support/document-client.js';

export interface Text {
  id: string;
  filename: string;
  content: string;
}

/** Several clients, each of which takes the next item when it is done with one. */
export async function inParallel<T>(
  clients: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const run = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: clients }, run));
}

/** Returns once the text can be found. */
export async function uploadAndWait(
  client: ReturnType<typeof documentClient>,
  partition: string,
  { id, filename, content }: Text,
): Promise<void> {
  const task = await client.upload('POST', partition, id, content, filename);
  for (;;) {
    const { task_state: state } = await client.task(`${task}?wait=30`);
    if (state === 'COMPLETED') return;
    if (state === 'FAILED' || state === 'CANCELLED') throw new Error(`${filename} ended ${state}`);
  }
}
