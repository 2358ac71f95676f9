import { AppError } from '../../../schemas/app-error.js';

interface Target {
  partition: string;
  fileId: string;
  taskUrl(taskId: string): string;
}

/** 409: there is a live file of this id. */
export function alreadyExists({ partition, fileId }: Omit<Target, 'taskUrl'>): AppError {
  return new AppError('FILE_EXISTS', `File '${fileId}' already exists in partition ${partition}`, {
    plain: true,
  });
}

/** 409: the first indexing of this file still runs. */
export function indexingInProgress(target: Target, taskId: string | null): AppError {
  return new AppError(
    'DOCUMENT_INDEXING_IN_PROGRESS',
    undefined,
    taskId === null ? {} : { details: { existing_task_id: taskId, task_status_url: target.taskUrl(taskId) } },
  );
}

/** 404: there is no partition of this name. */
export function noSuchPartition(partition: string): AppError {
  return new AppError('PARTITION_NOT_FOUND', `Partition '${partition}' not found`, { plain: true });
}

/** 404: neither a live version nor a pending task. */
export function noSuchFile({ partition, fileId }: Omit<Target, 'taskUrl'>): AppError {
  return new AppError('FILE_NOT_FOUND', `File '${fileId}' not found in partition '${partition}'`, {
    plain: true,
  });
}

/** 415: a refusal of the route's guard is answered without its code in brackets. */
export function plain415(error: unknown): never {
  if (error instanceof AppError && error.code === 'UNSUPPORTED_MEDIA_TYPE')
    throw new AppError(error.code, error.message, { plain: true, cause: error });
  throw error;
}
