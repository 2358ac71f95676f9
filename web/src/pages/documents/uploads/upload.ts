import type { TaskStatus } from '../queries';

/** A file on its way: from the browser to the gateway, then through the stages of its task. */
export interface Upload {
  id: number;
  partition: string;
  fileId: string;
  file: File;
  /** Takes the place of the file that has this id. */
  replace: boolean;
  phase: 'waiting' | 'uploading' | 'indexing' | 'done' | 'failed' | 'cancelled';
  /** Share of the bytes that were sent. */
  sent: number;
  taskId: string | null;
  stage: TaskStatus['stage'];
  progress: number;
  /** Why it failed, or why it waits to be sent again. */
  error: Error | string | null;
  /** When it was first sent without an answer: the server may have taken it. */
  unanswered: number | null;
}

/** A window that is closed now would lose it: the bytes are here alone. */
export function isHereAlone({ phase }: Upload): boolean {
  return phase === 'waiting' || phase === 'uploading';
}

export function isOver({ phase }: Upload): boolean {
  return phase === 'done' || phase === 'failed' || phase === 'cancelled';
}

/** The id that the server takes, made of the file's name and, for a dropped folder, of its place in it. */
export function fileIdOf(file: File): string {
  const { path } = file as File & { path?: string };
  const steps = (path ?? file.name).split('/').filter((step) => step !== '' && step !== '.');
  return steps
    .join(':')
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[^A-Za-z0-9._:-]/g, '_');
}

/** How far an upload is, of 100: a third for the bytes, the rest for the task. */
export function percentOf({ phase, sent, progress }: Upload): number {
  if (phase === 'waiting') return 0;
  if (phase === 'uploading') return 33 * sent;
  return phase === 'indexing' ? 33 + 67 * progress : 100;
}
