import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { IndexingPlans } from '../activities/ports/tasks.js';
import { indexWorkflowId } from '../schemas/ids.js';

/** By name: a state that a later server has counts as open, since it may go on. */
const CLOSED: readonly WorkflowExecutionStatusName[] = [
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TERMINATED',
  'TIMED_OUT',
];

/** What Temporal says of the workflows of tasks. */
export function createIndexingPlans(client: Pick<Client, 'workflow'>, prefix: string): IndexingPlans {
  return {
    async stateOf({ file_key: fileKey, generation }) {
      const workflowId = indexWorkflowId(prefix, fileKey, generation);
      try {
        const { status } = await client.workflow.getHandle(workflowId).describe();
        return CLOSED.includes(status.name) ? 'closed' : 'open';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'unknown';
        throw error;
      }
    },
  };
}
