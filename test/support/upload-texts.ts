import { documentClient } from './document-client.js';
import { generatedText } from './generated-text.js';
import { persist } from './kill-tools.js';
import type { RunningStack } from './running-stack.js';

export async function makePartition(stack: RunningStack, partition: string): Promise<void> {
  const { status } = await stack.request(`/partition/${partition}`, { method: 'POST' });
  if (status !== 201) throw new Error(`the partition ${partition} was not made: ${status}`);
}

/** A new partition with generated texts in files `file-0`, `file-1`, …, all indexed. */
export async function uploadTexts(
  stack: RunningStack,
  partition: string,
  { files, paragraphs }: { files: number; paragraphs: number },
): Promise<void> {
  await makePartition(stack, partition);
  const documents = documentClient(stack);
  const tasks: string[] = [];
  for (let file = 0; file < files; file += 1) {
    const text = generatedText(file, paragraphs);
    tasks.push(
      await persist(() => documents.upload('POST', partition, `file-${file}`, text, `file-${file}.txt`)),
    );
  }
  for (const task of tasks) {
    const { task_state: state, error } = await documents.ended(task, 600_000);
    if (state !== 'COMPLETED') throw new Error(`${task} ended ${state}: ${JSON.stringify(error)}`);
  }
}
