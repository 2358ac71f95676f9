import { documentClient } from '../support/document-client.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';

/**
 * Uploads files with a number of clients, each sending one after the other, and waits until all are searchable.
 * @returns seconds from the first upload to the last file
 */
export async function indexFiles(
  stack: Pick<RunningStack, 'request' | 'adapters'>,
  partition: string,
  files: readonly { id: string; filename: string; content: string }[],
  options: { clients?: number; withinMs?: number } = {},
): Promise<number> {
  const client = documentClient(stack);
  const began = performance.now();
  const queue = [...files];
  const send = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift())
      await client.upload('POST', partition, file.id, file.content, file.filename);
  };
  await Promise.all(Array.from({ length: options.clients ?? 4 }, send));
  await until(
    `${files.length} files are live in ${partition}`,
    async () => (await stack.adapters.files.countLive([partition])).get(partition) === files.length,
    { withinMs: options.withinMs ?? 30 * 60_000, everyMs: 200 },
  );
  return (performance.now() - began) / 1000;
}
