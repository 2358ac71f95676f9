import { useSyncExternalStore } from 'react';
import { ApiError, isSignedOut, mayPass } from '../../../api/api-error';
import { isSignedIn } from '../../../api/client';
import type { TaskStatus } from '../queries';
import { cancelTask } from './cancel-task';
import { pendingDeletions } from './pending-deletions';
import { sendOrFind } from './send-or-find';
import { fileIdOf, isHereAlone, isOver, isThere, UploadFault } from './upload';
import type { Upload } from './upload';
import { createTaskWatch } from './watch-tasks';

/** Fewer than the six connections that a browser opens to one server for all windows: other requests must not wait. */
const SENDING = 2;
/** Nothing is sent for so long after the server was away, unless it says for how long. */
const REST_SECONDS = 3;

/** So often a file is sent that the server cuts off: a connection may break, a refusal stays one. */
const MAX_CUT_OFF = 3;

/** Whether an upload goes on by itself: once the server is there or ready, or the user is signed in again. */
function isToWait(error: Error, { cutOff }: Upload): boolean {
  if (error instanceof UploadFault) return error.kind === 'cutOff' && cutOff + 1 < MAX_CUT_OFF;
  return mayPass(error) || isSignedOut(error);
}

/** Refused before a task could begin. */
function isRefused(error: Error): boolean {
  return isSignedOut(error) || (error instanceof ApiError && error.status === 429);
}

/** Uploads go on while one looks at other pages: they belong to the window, not to a page. */
function createUploadQueue() {
  let uploads: readonly Upload[] = [];
  let nextId = 1;
  let resting = false;
  /** Of what is being sent, by the uploads' ids. */
  const transfers = new Map<number, AbortController>();
  const listeners = new Set<() => void>();

  const set = (changed: readonly Upload[]) => {
    uploads = changed;
    for (const listener of listeners) listener();
  };
  const change = (id: number, changes: Partial<Upload>) =>
    set(uploads.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));

  const apply = (id: number, { task_state: state, stage, progress, error }: TaskStatus) => {
    if (state === 'COMPLETED') change(id, { phase: 'done', stage, progress: 1 });
    else if (state === 'CANCELLED') change(id, { phase: 'cancelled' });
    else if (state === 'FAILED') change(id, { phase: 'failed', error: error?.message ?? '' });
    else change(id, { stage, progress });
  };

  const watchNext = createTaskWatch({
    listed: () =>
      uploads.flatMap(({ id, phase, taskId }) =>
        phase === 'indexing' && taskId !== null ? [{ id, taskId }] : [],
      ),
    onStatus: apply,
    onGone: (id, error) => change(id, { phase: 'failed', error }),
  });

  const rest = (seconds: number) => {
    resting = true;
    setTimeout(() => {
      // Whole files would be sent in vain.
      const waits = uploads.some(({ phase }) => phase === 'waiting');
      if (waits && !isSignedIn()) return rest(REST_SECONDS);
      resting = false;
      sendNext();
    }, seconds * 1000);
  };

  const putOff = ({ id, unanswered, cutOff }: Upload, sentAt: number, error: Error) => {
    change(id, {
      phase: 'waiting',
      sent: 0,
      error,
      unanswered: isRefused(error) ? unanswered : (unanswered ?? sentAt),
      cutOff: error instanceof UploadFault ? cutOff + 1 : cutOff,
    });
    const asked = error instanceof ApiError ? error.retryAfterSeconds : null;
    if (!resting) rest(asked ?? REST_SECONDS);
  };

  /** None of them is sent in vain. */
  const failWaiting = (partition: string, error: Error) =>
    set(
      uploads.map((upload) =>
        upload.partition === partition && upload.phase === 'waiting'
          ? { ...upload, phase: 'failed', error }
          : upload,
      ),
    );

  const sendNext = () => {
    if (resting) return;
    // One that the server put off lets the others go first.
    const waiting = uploads.filter(({ phase }) => phase === 'waiting');
    const next = waiting.find(({ error }) => error === null) ?? waiting[0];
    const sending = uploads.filter(({ phase }) => phase === 'uploading').length;
    if (next === undefined || sending >= SENDING) return;
    const sentAt = Date.now();
    const transfer = new AbortController();
    transfers.set(next.id, transfer);
    change(next.id, { phase: 'uploading', error: null });
    sendOrFind(next, (sent) => change(next.id, { sent }), transfer.signal)
      .then(
        (taskId) => {
          if (uploads.some(({ id }) => id === next.id))
            change(next.id, { phase: 'indexing', taskId, sent: 1 });
          // It was dropped when all of its bytes were on their way; if this fails, the list of files has it.
          else cancelTask(taskId).catch(() => undefined);
        },
        (error: Error) => {
          // It was given up.
          if (transfer.signal.aborted) return;
          if (isToWait(error, next)) putOff(next, sentAt, error);
          else change(next.id, { phase: 'failed', error });
          if (error instanceof UploadFault && error.kind === 'partitionDeleted')
            failWaiting(next.partition, error);
        },
      )
      .finally(() => {
        transfers.delete(next.id);
        watchNext();
        sendNext();
      });
    sendNext();
  };

  const start = {
    phase: 'waiting',
    sent: 0,
    taskId: null,
    stage: 'queued',
    progress: 0,
    error: null,
    unanswered: null,
    cutOff: 0,
  } as const;

  const renew = (upload: Upload, replace: boolean): Upload => {
    const isBack = pendingDeletions.undo(upload.partition, upload.fileId);
    return { ...upload, ...start, replace: replace || isBack };
  };

  const stop = async (stopped: readonly Upload[]): Promise<void> => {
    const dropped = stopped.filter(isHereAlone);
    const ids = new Set(dropped.map(({ id }) => id));
    set(uploads.filter(({ id }) => !ids.has(id)));
    // The server may have taken what was sent to its end: its answer says which task is to be cancelled.
    for (const { id, sent } of dropped) if (sent < 1) transfers.get(id)?.abort();
    sendNext();
    for (const { id, taskId } of stopped)
      if (taskId !== null && (await cancelTask(taskId))) change(id, { phase: 'cancelled' });
  };

  window.addEventListener('beforeunload', (event) => {
    if (uploads.some(isHereAlone)) event.preventDefault();
  });

  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    current: () => uploads,
    /**
     * A file that is being deleted, as long as that can be undone, is replaced instead.
     * @param as the id that they get, instead of one that is made of the name, and whether it is there already
     */
    add(partition: string, files: readonly File[], as?: Pick<Upload, 'fileId' | 'replace'>) {
      const added = files.map((file): Upload => {
        const { fileId, replace } = as ?? { fileId: fileIdOf(file), replace: false };
        const isBack = pendingDeletions.undo(partition, fileId);
        return { ...start, fileId, replace: replace || isBack, id: nextId++, partition, file };
      });
      set([...uploads, ...added]);
      sendNext();
    },
    /** Sends a failed one again, over the file that is there if that is wanted. */
    again(id: number, replace: boolean) {
      set(uploads.map((upload) => (upload.id === id ? renew(upload, replace) : upload)));
      sendNext();
    },
    /** All that were refused since a file of their id is there. */
    replaceAll(partition: string) {
      set(
        uploads.map((upload) =>
          upload.partition === partition && isThere(upload) ? renew(upload, true) : upload,
        ),
      );
      sendNext();
    },
    /** The same ones: the files that are there stay. */
    leaveAll(partition: string) {
      set(uploads.filter((upload) => upload.partition !== partition || !isThere(upload)));
    },
    /**
     * Gives one up that is not done: it is not sent, or its task is cancelled.
     * @throws ApiError
     */
    drop: (id: number): Promise<void> =>
      stop(uploads.filter((upload) => upload.id === id && !isOver(upload))),
    /** @throws ApiError */
    dropAll: (partition: string): Promise<void> =>
      stop(uploads.filter((upload) => upload.partition === partition && !isOver(upload))),
    /** Of a partition that is there no more. */
    giveUp(partition: string) {
      const given = uploads.filter((upload) => upload.partition === partition);
      set(uploads.filter((upload) => upload.partition !== partition));
      for (const { id } of given) transfers.get(id)?.abort();
      sendNext();
    },
    clearOver(partition: string) {
      set(uploads.filter((upload) => upload.partition !== partition || !isOver(upload)));
    },
  };
}

export const uploadQueue = createUploadQueue();

export function useUploads(partition: string): readonly Upload[] {
  return useSyncExternalStore(uploadQueue.subscribe, uploadQueue.current).filter(
    (upload) => upload.partition === partition,
  );
}
