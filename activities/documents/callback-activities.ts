import { Context } from '@temporalio/activity';
import { stringify } from 'lossless-json';
import { AppError } from '../../schemas/app-error.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import type { WorkerDocumentAdapters } from '../ports/adapters.js';

export interface CallbackActivityDeps {
  adapters: Pick<WorkerDocumentAdapters, 'tasks' | 'callbacks' | 'callbackClient'>;
  settings: {
    /** Younger ones are skipped: the task's own workflow sends them. */
    graceMs: number;
  };
  now?: () => Date;
}

const SHARE = 200;
/** Workflows pause for a quarter of an hour at most between two attempts: one that rested for so long is gone. */
const STALLED_MS = 3_600_000;
/** So long after the end of its task a callback is given up; its workflow, which tries for a day, does so before. */
const GIVEN_UP_MS = 36 * 3_600_000;

/** Keys that the server sets; the receiver gets back what the client sent (wire contract, section 3.4). */
const SERVER_KEYS: ReadonlySet<string> = new Set([
  'source',
  'filename',
  'original_filename',
  'file_size',
  'file_id',
  'content_sha256',
]);

function bodyOf(task: TaskRecord): string {
  return (
    stringify({
      partition: task.partition,
      file_id: task.file_id,
      status: task.state === 'COMPLETED' ? 'success' : 'error',
      metadata: Object.fromEntries(Object.entries(task.metadata).filter(([key]) => !SERVER_KEYS.has(key))),
    }) ?? '{}'
  );
}

function isTold(task: TaskRecord): boolean {
  return task.state === 'COMPLETED' || task.state === 'FAILED';
}

/** Activities of completion callbacks. */
export function createCallbackActivities({
  adapters,
  settings,
  now = () => new Date(),
}: CallbackActivityDeps) {
  const { tasks, callbacks, callbackClient } = adapters;

  /**
   * One attempt; what came of it is written down. At least once: a worker that dies between the receiver's answer and
   * our note of it sends again.
   * @throws AppError CALLBACK_FAILED unless the answer is a 2xx, CALLBACK_REFUSED for an address that is not allowed
   */
  const sendCallback = async (taskId: string): Promise<void> => {
    const [callback, task] = await Promise.all([callbacks.get(taskId), tasks.get(taskId)]);
    if (callback === null || callback.state !== 'waiting' || task === null) return;
    if (!isTold(task)) return callbacks.end(taskId, 'withdrawn');
    const { url, token } = callback;
    const signal = Context.current().cancellationSignal;
    let status: number | null = null;
    try {
      status = await callbackClient.post({ url, token, body: bodyOf(task), signal });
      if (status < 200 || status > 299)
        throw new AppError('CALLBACK_FAILED', `The receiver answered ${status}`);
    } catch (error) {
      await callbacks.noteAttempt(taskId, { status, error: error instanceof Error ? error.message : null });
      throw error;
    }
    await callbacks.noteAttempt(taskId, { status, error: null });
    await callbacks.end(taskId, 'delivered');
  };

  const giveUpCallback = (taskId: string): Promise<void> => callbacks.end(taskId, 'failed');

  /**
   * Callbacks of ended tasks that no workflow sends: those without an attempt, as it was gone when the task ended, and
   * those whose last attempt is long ago. To start one that is at work after all is harmless.
   */
  const findUntoldCallbacks = async (): Promise<string[]> => {
    const present = now().getTime();
    const untried = await callbacks.listUntried(new Date(present - settings.graceMs), SHARE);
    const stalled = await callbacks.listStalled(new Date(present - STALLED_MS), SHARE);
    const untold: string[] = [];
    for (const { task_id: taskId, attempts } of [...untried, ...stalled]) {
      const task = await tasks.get(taskId);
      if (task === null) await callbacks.remove(taskId);
      else if (task.state === 'CANCELLED') await callbacks.end(taskId, 'withdrawn');
      else if (attempts > 0 && present - (task.finished_at?.getTime() ?? present) > GIVEN_UP_MS)
        await callbacks.end(taskId, 'failed');
      else if (isTold(task)) untold.push(taskId);
    }
    return untold;
  };

  return { sendCallback, giveUpCallback, findUntoldCallbacks };
}

export type CallbackActivities = ReturnType<typeof createCallbackActivities>;
