import type { ErrorCode } from '../../../schemas/error-table.js';
import type { Adapters } from '../../ports/adapters.js';
import type { WorkflowStarter } from '../../ports/tasks.js';
import type { Warnings } from '../../temporal/ask-temporal.js';
import { releaseQuota } from '../clean-up/release-quota.js';
import { askTemporal } from '../../temporal/ask-temporal.js';
import { taskFailure } from '../../../schemas/documents/tasks.js';

export interface EndTaskDeps {
  files: Adapters['files'];
  tasks: Adapters['tasks'];
  quotas: Adapters['quotas'];
  claims: Adapters['claims'];
  workflows: WorkflowStarter;
  log: Warnings;
}

/** `told` resolves once Temporal knows, or is given up on; it never rejects. */
export interface EndedTask {
  ended: boolean;
  told: Promise<unknown>;
}

/**
 * CANCELLED at once, in the record; the work is told to stop after that, and what it left is cleaned up. The file
 * record must have let go of the task before: from then on the task cannot publish.
 * @returns `ended` false when the task had ended already
 */
export async function endTask(
  deps: EndTaskDeps,
  taskId: string,
  code: Extract<ErrorCode, 'TASK_CANCELLED' | 'SUPERSEDED'>,
): Promise<EndedTask> {
  const ended = await deps.tasks.finish(taskId, 'CANCELLED', taskFailure(code));
  if (!ended) return { ended, told: Promise.resolve() };
  await deps.claims.release([taskId]);
  const task = await deps.tasks.get(taskId);
  if (task === null) return { ended, told: Promise.resolve() };
  const { file_key, generation } = task;
  await releaseQuota(deps, { taskId, fileKey: file_key });
  // Together, and the caller may add its own: a client waits for one silence of Temporal, not for several.
  const told = Promise.all([
    askTemporal(deps.log, `cancelling task ${taskId}`, () => deps.workflows.cancelIndexing(task)),
    askTemporal(deps.log, `cleaning up after task ${taskId}`, () =>
      deps.workflows.startCleaning(file_key, generation),
    ),
  ]);
  return { ended, told };
}
