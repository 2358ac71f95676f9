import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { AppError } from '../../../schemas/app-error.js';
import type { BlobStore } from '../../ports/files.js';
import type { LanguageModel } from '../../ports/models.js';
import { describePicture } from './describe-picture.js';
import {
  DESCRIPTIONS_PER_PART,
  countDescriptionParts,
  readDescriptions,
  readPicture,
  removePictures,
  writeDescriptions,
} from './picture-list.js';

/** Pictures that a model is asked about at once. */
const AT_ONCE = 4;
/** So many questions in a row without an answer, and the rest of the pictures are left as they are. */
const MAX_FAILURES = 3;

export interface PicturesToDescribe {
  task: TaskRecord;
  blobs: Pick<BlobStore, 'read' | 'info' | 'write' | 'remove'>;
  /** Made when the first picture needs it. */
  model(): Promise<LanguageModel>;
  prompt(): Promise<string>;
  /** Ends with the work, and with the time limit of one question. */
  timeLimit(): AbortSignal;
  signal: AbortSignal;
  /** Whether an error is no reason to go on without, since the whole will be tried again. */
  isTriedAgain(error: unknown): boolean;
  /** So many parts are put down. */
  onPart(parts: number): Promise<void>;
}

/**
 * Has a model say what each picture shows. Part by part, each put down before the next is begun; once all are there,
 * also with pictures that nothing was said of, a repetition asks nothing any more: the list of chunks follows from it.
 * @throws what kept a picture from being described, after the others were
 */
export async function describePictures(work: PicturesToDescribe): Promise<void> {
  const { task, blobs, signal } = work;
  const { kept, leftOut } = task.pictures ?? { kept: 0, leftOut: 0 };
  const owner = { taskId: task.task_id, fileKey: task.file_key, generation: task.generation };
  const descriptions = await readDescriptions(blobs, task.task_id);
  let failures = 0;
  let failed: unknown;

  const noteFailure = (error: unknown): void => {
    signal.throwIfAborted();
    if (work.isTriedAgain(error)) throw error;
    failures += 1;
    failed = error;
  };

  const ready = async (): Promise<{ model: LanguageModel; prompt: string } | null> => {
    try {
      return { model: await work.model(), prompt: await work.prompt() };
    } catch (error) {
      noteFailure(error);
      return null;
    }
  };
  const equipped = descriptions.length < kept ? await ready() : null;

  const ask = async (picture: number): Promise<string | null> => {
    if (equipped === null || failures >= MAX_FAILURES) return null;
    try {
      const bytes = await readPicture(blobs, task.task_id, picture);
      const said = await describePicture(equipped.model, {
        prompt: equipped.prompt,
        picture: bytes,
        signal: work.timeLimit(),
      });
      failures = 0;
      return said;
    } catch (error) {
      noteFailure(error);
      return null;
    }
  };

  const parts = countDescriptionParts(kept);
  for (let part = countDescriptionParts(descriptions.length); part < parts; part += 1) {
    const said: (string | null)[] = [];
    const end = Math.min(kept, (part + 1) * DESCRIPTIONS_PER_PART);
    for (let from = part * DESCRIPTIONS_PER_PART; from < end; from += AT_ONCE) {
      const group = Array.from({ length: Math.min(AT_ONCE, end - from) }, (_, index) => from + index);
      said.push(...(await Promise.all(group.map(ask))));
    }
    await writeDescriptions(blobs, owner, part, said, signal);
    descriptions.push(...said);
    await work.onPart(part + 1);
  }
  await removePictures(blobs, task.task_id, kept);
  if (failed !== undefined) throw failed;
  const missing = descriptions.filter((description) => description === null).length + leftOut;
  if (missing > 0) throw new AppError('UNSUPPORTED_CONTENT', `${missing} pictures are not described.`);
}
