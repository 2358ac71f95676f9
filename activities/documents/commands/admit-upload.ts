import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { isSmallText } from '../task-ref.js';
import { askTemporal } from '../../temporal/ask-temporal.js';
import { admitTask } from './admit-task.js';
import type { AdmitTaskDeps } from './admit-task.js';
import { endTask } from './end-task.js';
import type { EndTaskDeps } from './end-task.js';
import type { UploadToAdmit } from './new-task.js';

export interface AdmitUploadDeps extends EndTaskDeps, AdmitTaskDeps {
  /** 0: each waits for the dispatcher. */
  maxRunningTasksPerUser: number;
}

/**
 * Admits an upload (`admitTask`), ends what it takes the place of, and has it started. Temporal is told last, and may
 * be away: the sweep starts what was not handed over.
 * @throws AppError as `admitTask`
 */
export async function admitUpload(deps: AdmitUploadDeps, input: UploadToAdmit): Promise<TaskRecord> {
  const { task, supersededTask, isAssigned } = await admitTask(deps, input);
  // Admitted: from here on nothing may fail the request, since its caller would remove the bytes.
  const orElseSweep =
    (what: string) =>
    (error: unknown): void =>
      deps.log.warn({ err: error, task_id: task.task_id }, `${what} is left to the sweep`);
  const superseded =
    supersededTask === null
      ? undefined
      : await endTask(deps, supersededTask, 'SUPERSEDED').catch(orElseSweep('ending the superseded task'));
  // The dispatcher and the sweep assign its bytes before they start it: those of no file would be lost in time.
  const started = isAssigned ? startInTurn(deps, task) : leaveToDispatcher(deps);
  await Promise.all([started.catch(orElseSweep('starting the task')), superseded?.told]);
  return task;
}

/**
 * At once while the user has few tasks at work, and always for a copy: its client waits for it. Else it waits in the
 * records, where the dispatcher takes users in turn: so a thousand uploads of one user do not delay the single one of
 * another.
 */
async function startInTurn(deps: AdmitUploadDeps, task: TaskRecord): Promise<void> {
  const { tasks, workflows, log } = deps;
  const most = deps.maxRunningTasksPerUser;
  const isBusy = async (): Promise<boolean> =>
    most === 0 ||
    // Those that run are active: where these are few, nothing more is counted.
    ((await tasks.countActive(task.user_id, most)) >= most &&
      (await tasks.countRunning(task.user_id, most)) >= most);
  if (task.kind !== 'copy' && (await isBusy())) return leaveToDispatcher(deps);
  const start = () => workflows.startIndexing(task, { small: isSmallText(task) });
  if (await askTemporal(log, `starting task ${task.task_id}`, start))
    await tasks.markHandedOver(task.task_id);
}

async function leaveToDispatcher({ workflows, log }: AdmitUploadDeps): Promise<void> {
  await askTemporal(log, 'notifying the dispatcher', () => workflows.notifyDispatcher());
}
