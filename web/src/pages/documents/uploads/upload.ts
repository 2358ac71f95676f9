import { ApiError } from '../../../api/api-error';
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
  /** How often the server cut its transfer off. */
  cutOff: number;
}

/** Why a file did not get through, where that is neither the server's word nor its absence. */
export class UploadFault extends Error {
  override readonly name = 'UploadFault';

  constructor(
    /**
     * By the browser, as what was removed or changed, or is a folder; or the server cut its transfer off; or its
     * partition is there no more.
     */
    readonly kind: 'unreadable' | 'cutOff' | 'partitionDeleted',
  ) {
    super(kind);
  }
}

/** A window that is closed now would lose it: the bytes are here alone. */
export function isHereAlone({ phase }: Upload): boolean {
  return phase === 'waiting' || phase === 'uploading';
}

export function isOver({ phase }: Upload): boolean {
  return phase === 'done' || phase === 'failed' || phase === 'cancelled';
}

/** A file with this id is there: it may be replaced. Other conflicts, as the same bytes under another name, stay. */
export function isThere({ phase, error }: Upload): boolean {
  return phase === 'failed' && error instanceof ApiError && error.status === 409 && error.code === null;
}

/** A short number that stands for a text, the same in every browser: FNV-1a of 64 bits, of its UTF-8. */
function digestOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(36).padStart(13, '0').slice(-10);
}

/** The server takes no longer ids. */
const MAX_ID_CHARACTERS = 255;

/**
 * The id that the server takes, made of the file's name and, for a dropped folder, of its place in it. Letters of other
 * scripts have no place in one; names that differ by such letters alone are told apart by a digest before the ending.
 * Of one that is too long the end is kept, which has the name, behind a digest of the whole.
 */
export function fileIdOf(file: Pick<File, 'name'>): string {
  const { path } = file as { path?: string };
  const steps = (path ?? file.name).split('/').filter((step) => step !== '' && step !== '.');
  const name = steps.join(':');
  const plain = name.normalize('NFD').replace(/\p{Mn}/gu, '');
  const id = plain.replace(/[^A-Za-z0-9._:-]/g, '_');
  // Blanks and the like are left alone: files of that kind keep the ids that they have.
  const isPlain = /^[\p{ASCII}]*$/u.test(plain);
  if (isPlain && id.length <= MAX_ID_CHARACTERS) return id;
  const digest = digestOf(name.normalize('NFC'));
  const whole = isPlain ? id : id.replace(/(\.[^.:]*)?$/, (ending) => `-${digest}${ending}`);
  if (whole.length <= MAX_ID_CHARACTERS) return whole;
  return `${digest}-${whole.slice(digest.length + 1 - MAX_ID_CHARACTERS)}`;
}

/** How far an upload is, of 100: a third for the bytes, the rest for the task. */
export function percentOf({ phase, sent, progress }: Upload): number {
  if (phase === 'waiting') return 0;
  if (phase === 'uploading') return 33 * sent;
  return phase === 'indexing' ? 33 + 67 * progress : 100;
}
