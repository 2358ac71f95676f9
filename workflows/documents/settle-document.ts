import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { DocumentActivities } from '../../activities/documents/document-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk } from '../activity-profiles.js';

export interface SettleDocumentInput {
  prefix: string;
  fileKey: string;
  /** The change of the record that this run answers for. */
  token: string;
}

/** The chunks of a large file follow a change of its record, so that filters see it. Running it twice is harmless. */
export async function settleDocument(input: SettleDocumentInput): Promise<void> {
  const { settleFileChunks } = proxyActivities<DocumentActivities>({
    ...bulk,
    taskQueue: taskQueues(input.prefix).documents,
  });
  setCurrentDetails('writes what the record says to the chunks of the file');
  await settleFileChunks(input.fileKey, input.token);
}
