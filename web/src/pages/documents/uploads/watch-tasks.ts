import { ApiError, isSignedOut } from '../../../api/api-error';
import { api, bodyOf, isSignedIn } from '../../../api/client';
import type { TaskStatus } from '../queries';

/** So many are asked for at a time: a browser opens six connections to one server for all windows. */
const LOOKS_AT_ONCE = 2;
/** So often one task is asked for, at most, and so long none is while the server does not answer. */
const LOOK_EVERY_MS = 2_000;
/** Behind one that goes on, so that many tasks leave room in what a user may ask for in a minute. */
const LOOK_GAP_MS = 500;

interface Watched {
  id: number;
  taskId: string;
}

interface Watch {
  /** Those whose status is wanted, at this moment. */
  listed: () => readonly Watched[];
  onStatus: (id: number, status: TaskStatus) => void;
  /** There is no such task any more, or none that this user may see. */
  onGone: (id: number, error: ApiError) => void;
}

function isGone(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.status === 404 || (error.status === 403 && !isSignedOut(error));
}

/** @throws ApiError, other than those that are gone, where the server does not say it just now, as while it restarts */
function readTask(taskId: string): Promise<TaskStatus> {
  return bodyOf(api.GET('/indexer/task/{task_id}', { params: { path: { task_id: taskId } } }));
}

function isFinal({ task_state: state }: TaskStatus): boolean {
  return state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED';
}

/**
 * Asks for tasks in turn, so that one of hours does not hide what became of the others. No event stream: it would hold
 * one of the connections for as long as its task runs, and a few windows would stop the whole console.
 * @returns to be called when there is another one to look at
 */
export function createTaskWatch({ listed, onStatus, onGone }: Watch): () => void {
  /** When each may be asked for again, by the id of the task. */
  const dueAt = new Map<string, number>();
  const asked = new Set<string>();
  let restUntil = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const look = async ({ id, taskId }: Watched): Promise<void> => {
    asked.add(taskId);
    let rest = 0;
    try {
      const status = await readTask(taskId);
      if (!isFinal(status)) rest = LOOK_GAP_MS;
      onStatus(id, status);
    } catch (error) {
      if (isGone(error)) onGone(id, error);
      else rest = LOOK_EVERY_MS;
    }
    asked.delete(taskId);
    dueAt.set(taskId, Date.now() + LOOK_EVERY_MS);
    restUntil = Math.max(restUntil, Date.now() + rest);
    lookNext();
  };

  const lookNext = (): void => {
    if (asked.size >= LOOKS_AT_ONCE) return;
    const dueOf = ({ taskId }: Watched): number => dueAt.get(taskId) ?? 0;
    let next: Watched | undefined;
    for (const watched of listed())
      if (!asked.has(watched.taskId) && (next === undefined || dueOf(watched) < dueOf(next))) next = watched;
    if (next === undefined) return;
    const now = Date.now();
    // Whatever was asked without a session would be refused, and have the session asked for each time.
    if (!isSignedIn()) restUntil = Math.max(restUntil, now + LOOK_EVERY_MS);
    const wait = Math.max(dueOf(next), restUntil) - now;
    clearTimeout(timer);
    if (wait > 0) {
      timer = setTimeout(lookNext, wait);
      return;
    }
    void look(next);
    lookNext();
  };
  return lookNext;
}
