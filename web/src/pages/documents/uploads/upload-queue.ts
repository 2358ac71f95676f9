import { useSyncExternalStore } from 'react';
import type { TaskStatus } from '../queries';
import { sendFile } from './send-file';
import { fileIdOf, isOver } from './upload';
import type { Upload } from './upload';
import { watchTask } from './watch-task';

/** Together fewer than the six connections that a browser opens to one server: other requests must not wait. */
const SENDING = 2;
const WATCHING = 2;

/** Uploads go on while one looks at other pages: they belong to the window, not to a page. */
function createUploadQueue() {
  let uploads: readonly Upload[] = [];
  let nextId = 1;
  let watching = 0;
  const listeners = new Set<() => void>();

  const change = (id: number, changes: Partial<Upload>) => {
    uploads = uploads.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload));
    for (const listener of listeners) listener();
  };

  const apply = (id: number, { task_state: state, stage, progress, error }: TaskStatus) => {
    if (state === 'COMPLETED') change(id, { phase: 'done', stage, progress: 1 });
    else if (state === 'CANCELLED') change(id, { phase: 'cancelled' });
    else if (state === 'FAILED') change(id, { phase: 'failed', error: error?.message ?? '' });
    else change(id, { stage, progress });
  };

  const watchNext = () => {
    const next = uploads.find(({ phase, id }) => phase === 'indexing' && !watched.has(id));
    if (next?.taskId == null || watching >= WATCHING) return;
    watching += 1;
    watched.add(next.id);
    void watchTask(next.taskId, (status) => apply(next.id, status)).then(() => {
      watching -= 1;
      watchNext();
    });
    watchNext();
  };
  const watched = new Set<number>();

  const sendNext = () => {
    const next = uploads.find(({ phase }) => phase === 'waiting');
    const sending = uploads.filter(({ phase }) => phase === 'uploading').length;
    if (next === undefined || sending >= SENDING) return;
    change(next.id, { phase: 'uploading' });
    sendFile(next, (sent) => change(next.id, { sent }))
      .then(
        (taskId) => change(next.id, { phase: 'indexing', taskId, sent: 1 }),
        (error: Error) => change(next.id, { phase: 'failed', error }),
      )
      .finally(() => {
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
  } as const;

  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    current: () => uploads,
    add(partition: string, files: readonly File[], replaced?: string) {
      const added = files.map((file): Upload => {
        const target = { fileId: replaced ?? fileIdOf(file), replace: replaced !== undefined };
        return { ...start, ...target, id: nextId++, partition, file };
      });
      uploads = [...uploads, ...added];
      sendNext();
    },
    /** Sends a failed one again, over the file that is there if that is wanted. */
    again(id: number, replace: boolean) {
      watched.delete(id);
      change(id, { ...start, replace });
      sendNext();
    },
    clearOver(partition: string) {
      uploads = uploads.filter((upload) => upload.partition !== partition || !isOver(upload));
      for (const listener of listeners) listener();
    },
  };
}

export const uploadQueue = createUploadQueue();

export function useUploads(partition: string): readonly Upload[] {
  return useSyncExternalStore(uploadQueue.subscribe, uploadQueue.current).filter(
    (upload) => upload.partition === partition,
  );
}
