import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../schemas/app-error.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import type { Adapters } from '../../ports/adapters.js';
import type { Warnings } from '../../temporal/ask-temporal.js';
import { newTask } from './new-task.js';
import type { UploadToAdmit } from './new-task.js';
import { alreadyExists, indexingInProgress, noSuchFile } from './refusals.js';
import { reserveQuota, takesPlace } from './reserve-quota.js';

export interface AdmitTaskDeps extends Pick<
  Adapters,
  'users' | 'callbacks' | 'counters' | 'blobs' | 'files' | 'tasks' | 'quotas' | 'claims'
> {
  log: Warnings;
  deduplicate: boolean;
  /** Of users whose record names none; negative: no limit. */
  defaultFileQuota: number;
}

interface Admitted {
  task: TaskRecord;
  /** The task that a PUT took the place of. */
  supersededTask: string | null;
  /** Whether its bytes are known as those of its file. */
  isAssigned: boolean;
}

/** Each round that fails means that another upload of the same file got ahead; so many in a row do not happen. */
const MAX_ROUNDS = 50;
const MAX_PAUSE_MS = 50;
/** Well below the grace of the sweep, and above what an admission takes. */
const SLOW_MS = 1000;

/**
 * The admission protocol: task record, content claim, a place in the quota, then the file record, which decides. Only
 * an admitted upload leaves anything: every refusal takes place, claim and task back (the caller removes the bytes).
 * The task is not started: until Temporal has it, the sweep and the dispatcher find it in the records.
 * @throws AppError QUOTA_EXCEEDED (403), FILE_EXISTS, DOCUMENT_INDEXING_IN_PROGRESS, DOCUMENT_CONTENT_EXISTS (409),
 *   FILE_NOT_FOUND (404), SERVICE_UNAVAILABLE (503) when it was so slow that the sweep has discarded it
 */
export async function admitTask(deps: AdmitTaskDeps, input: UploadToAdmit): Promise<Admitted> {
  const admitted = await admit(deps, input);
  const { task_id: taskId, file_key: fileKey, generation } = admitted.task;
  const { foreseen } = input;
  if (foreseen?.fileKey === fileKey && foreseen.generation === generation)
    return { ...admitted, isAssigned: true };
  // Admitted: from here on nothing may fail, since the caller would remove the bytes.
  const isAssigned = await deps.blobs.assign(taskId, { fileKey, generation }).then(
    () => true,
    (error: unknown) => {
      deps.log.warn({ err: error, task_id: taskId }, 'assigning the upload to its file is left to the sweep');
      return false;
    },
  );
  return { ...admitted, isAssigned };
}

async function admit(deps: AdmitTaskDeps, input: UploadToAdmit): Promise<Omit<Admitted, 'isAssigned'>> {
  let rejectedKey: string | null = null;
  const takes =
    input.intent === 'replace' || (input.isUnlimited !== true && (await takesPlace(deps, input.userId)));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (round > 0) await sleep(Math.random() * Math.min(10 * round, MAX_PAUSE_MS));
    const present = await findPresent(deps, input, round);
    refuseByRecord(input, present);
    const foreseen = round === 0 ? input.foreseen : undefined;
    const fileKey: string = present?.file_key ?? rejectedKey ?? foreseen?.fileKey ?? newFileKey();
    const generation = foreseen?.generation ?? (await deps.counters.nextGeneration());
    const task = newTask(input, { fileKey, generation, takesPlace: takes });
    const outcome = await tryAdmission(deps, input, task);
    if (outcome.kind === 'admitted') return { task, supersededTask: outcome.supersededTask };
    rejectedKey = outcome.fileKey;
  }
  throw new AppError('CONFLICT', 'Too many uploads of this file at once');
}

/** In the first round as it was found a moment ago, where it was looked up. */
async function findPresent(
  { files }: AdmitTaskDeps,
  { present, partition, fileId }: UploadToAdmit,
  round: number,
): Promise<FileRecord | null> {
  return round === 0 && present !== undefined ? present : files.get(partition, fileId);
}

/** A key that no file has had. */
export function newFileKey(): string {
  return randomUUID().replaceAll('-', '');
}

/** What the record as it stands already refuses, before anything is written. */
function refuseByRecord(input: UploadToAdmit, present: FileRecord | null): void {
  const live = present?.live ?? null;
  const pending = present?.pending_task ?? null;
  if (input.intent === 'replace') {
    if (live === null && pending === null) throw noSuchFile(input);
  } else if (live !== null) throw alreadyExists(input);
  else if (pending !== null) throw indexingInProgress(input, pending);
}

type Outcome =
  | { kind: 'admitted'; supersededTask: string | null }
  /** Ask again, under the file's own key where one is known. */
  | { kind: 'again'; fileKey: string | null };

/** One round. Whatever it wrote is taken back unless it ends admitted. */
async function tryAdmission(deps: AdmitTaskDeps, input: UploadToAdmit, task: TaskRecord): Promise<Outcome> {
  let admitted = false;
  try {
    await deps.tasks.insert(task);
    if (input.callback != null) await deps.callbacks.insert({ taskId: task.task_id, ...input.callback });
    if (deps.deduplicate) {
      const holder = await deps.claims.claim({
        partition: task.partition,
        digest: task.upload.content_sha256,
        fileKey: task.file_key,
        fileId: task.file_id,
        taskId: task.task_id,
      });
      // Held under our own file id: another upload of this file, just ahead of us. Its record will tell.
      if (holder?.existingFileId === input.fileId) return { kind: 'again', fileKey: null };
      if (holder !== null)
        throw new AppError('DOCUMENT_CONTENT_EXISTS', undefined, {
          details: { existing_file_id: holder.existingFileId },
        });
    }
    // A replacement adds no file; one of a file that is not live yet inherits the place of the task it supersedes.
    if (task.takes_no_place !== true && input.intent === 'create')
      await reserveQuota(deps, { userId: task.user_id, taskId: task.task_id });
    // A replacement ends what it takes the place of: it must not do so for nothing.
    if (input.intent === 'replace') await requireNotDiscarded(deps, task);
    const outcome = await (input.intent === 'create' ? admitFirst : admitReplacement)(deps, input, task);
    if (outcome.kind === 'admitted') await requireNotDiscarded(deps, task);
    admitted = outcome.kind === 'admitted';
    return outcome;
  } finally {
    if (!admitted) await takeBack(deps, task);
  }
}

/**
 * What is older than SWEEP_GRACE_SECONDS and not in its file's record the sweep takes for what a crash has left, and
 * discards. An admission that was slow asks whether it was.
 * @throws AppError SERVICE_UNAVAILABLE
 */
async function requireNotDiscarded({ tasks }: AdmitTaskDeps, task: TaskRecord): Promise<void> {
  if (Date.now() - task.created_at.getTime() < SLOW_MS) return;
  const now = await tasks.get(task.task_id);
  // It may be started by now, and have ended otherwise.
  if (now === null || now.state === 'CANCELLED')
    throw new AppError('SERVICE_UNAVAILABLE', 'The upload took too long to be admitted; try again.');
}

async function admitFirst(
  { files }: AdmitTaskDeps,
  input: UploadToAdmit,
  task: TaskRecord,
): Promise<Outcome> {
  const answer = await files.admitFirst({
    fileKey: task.file_key,
    partition: task.partition,
    partitionKey: input.partitionKey,
    fileId: task.file_id,
    userId: task.user_id,
    taskId: task.task_id,
    generation: task.generation,
    workspaces: input.workspaces,
    attachedTo: input.attachedTo ?? null,
  });
  if (answer.outcome === 'admitted') return { kind: 'admitted', supersededTask: null };
  if (answer.outcome === 'exists') throw alreadyExists(input);
  if (answer.outcome === 'pending') throw indexingInProgress(input, answer.file.pending_task);
  return { kind: 'again', fileKey: answer.outcome === 'other-key' ? answer.file.file_key : null };
}

async function admitReplacement(
  { files }: AdmitTaskDeps,
  input: UploadToAdmit,
  task: TaskRecord,
): Promise<Outcome> {
  const answer = await files.admitReplacement({
    fileKey: task.file_key,
    taskId: task.task_id,
    generation: task.generation,
  });
  if (answer.outcome === 'admitted') return { kind: 'admitted', supersededTask: answer.supersededTask };
  if (answer.outcome === 'gone') throw noSuchFile(input);
  return { kind: 'again', fileKey: null };
}

/**
 * Also after an admission whose answer was lost: then the record lets go of the task again. In this order, and no
 * further than it goes: a record that still waits for the task must find it.
 */
async function takeBack(deps: AdmitTaskDeps, task: TaskRecord): Promise<void> {
  try {
    await deps.files.releasePending(task.file_key, task.task_id);
    await deps.claims.release([task.task_id]);
    await deps.quotas.release([task.task_id]);
    if (task.has_callback === true) await deps.callbacks.remove(task.task_id);
    await deps.tasks.remove(task.task_id);
  } catch (error) {
    deps.log.warn({ err: error, task_id: task.task_id }, 'what a refused upload wrote is left to the sweep');
  }
}
