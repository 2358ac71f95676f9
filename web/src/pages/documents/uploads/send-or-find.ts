import { ApiError } from '../../../api/api-error';
import { api } from '../../../api/client';
import { sendFile } from './send-file';
import type { Upload } from './upload';

/** The `Date` of an answer has no parts of a second, and the answer took a while. */
const CLOCK_TOLERANCE_MS = 2_000;

/** The task of a file that was begun since `sent`, by the server's clock, which may differ from ours. */
async function findTask({ partition, fileId }: Upload, sent: number): Promise<string | null> {
  const { data, response } = await api.GET('/queue/tasks');
  const ahead = Date.parse(response.headers.get('Date') ?? '') - Date.now();
  const since = sent + (Number.isNaN(ahead) ? 0 : ahead) - CLOCK_TOLERANCE_MS;
  const found = data?.tasks.find(
    ({ details, created_at: at }) =>
      details.partition === partition && details.file_id === fileId && Date.parse(at) >= since,
  );
  return found?.task_id ?? null;
}

/**
 * Sends a file and answers the id of its task. One that was sent before and whose answer was lost may have been taken:
 * the server then refuses it as already there, and the task that was begun is the one to follow.
 * @throws ApiError, UploadFault; what `signal` is aborted with
 */
export async function sendOrFind(
  upload: Upload,
  onSent: (share: number) => void,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await sendFile(upload, onSent, signal);
  } catch (error) {
    const { unanswered } = upload;
    const isThere = error instanceof ApiError && error.status === 409;
    const taken = isThere && unanswered !== null ? await findTask(upload, unanswered) : null;
    if (taken === null) throw error;
    return taken;
  }
}
