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
}

const SHARE = 200;

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
export function createCallbackActivities({ adapters, settings }: CallbackActivityDeps) {
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

  /** Callbacks of ended tasks without an attempt: the workflow was gone when the task ended. */
  const findUntoldCallbacks = async (): Promise<string[]> => {
    const waiting = await callbacks.listUntried(new Date(Date.now() - settings.graceMs), SHARE);
    const untold: string[] = [];
    for (const { task_id: taskId } of waiting) {
      const task = await tasks.get(taskId);
      if (task === null) await callbacks.remove(taskId);
      else if (task.state === 'CANCELLED') await callbacks.end(taskId, 'withdrawn');
      else if (isTold(task)) untold.push(taskId);
    }
    return untold;
  };

  return { sendCallback, giveUpCallback, findUntoldCallbacks };
}

export type CallbackActivities = ReturnType<typeof createCallbackActivities>;
