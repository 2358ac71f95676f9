import { ApiError, errorOf } from '../../../api/api-error';
import { noteStatus, send, SESSION_PATH, unreachableError, writingHeaders } from '../../../api/client';
import { UploadFault } from './upload';
import type { Upload } from './upload';

/**
 * Why no answer came. The browser says the same of a file that it cannot read, of a server that is away, and of one
 * that refused the file and closed the connection before all of it had come.
 */
async function faultOf(file: File, hasSent: boolean): Promise<Error> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    return new UploadFault('unreadable');
  }
  if (!hasSent) return unreachableError();
  try {
    await send(SESSION_PATH);
    return new UploadFault('cutOff');
  } catch (error) {
    if (error instanceof ApiError) noteStatus(error.status);
    return error as Error;
  }
}

/**
 * Sends the bytes and answers the id of the task. By XMLHttpRequest, since fetch does not tell how much was sent. Into
 * partitions that are there alone: one that was deleted must not come back by what was still to be sent.
 * @throws ApiError, UploadFault; what `signal` is aborted with
 */
export function sendFile(
  { partition, fileId, file, replace }: Upload,
  onSent: (share: number) => void,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const path = `/indexer/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(fileId)}`;
    if (replace) request.open('PUT', path);
    else request.open('POST', `${path}?create_partition=false`);
    for (const [name, value] of Object.entries(writingHeaders())) request.setRequestHeader(name, value);
    let hasSent = false;
    request.upload.onprogress = ({ loaded, total }) => {
      hasSent ||= loaded > 0;
      onSent(total === 0 ? 1 : loaded / total);
    };
    signal.addEventListener('abort', () => request.abort());
    request.onabort = () => reject(signal.reason as Error);
    request.onerror = () => void faultOf(file, hasSent).then(reject);
    request.onload = () => {
      if (request.status >= 300) {
        noteStatus(request.status);
        if (request.status === 404 && !replace) return reject(new UploadFault('partitionDeleted'));
        const headers = new Headers();
        const wait = request.getResponseHeader('Retry-After');
        if (wait !== null) headers.set('Retry-After', wait);
        reject(errorOf(request.status, request.responseText, headers));
        return;
      }
      try {
        const { task_status_url: url } = JSON.parse(request.responseText) as { task_status_url: string };
        resolve(url.split('/').at(-1) ?? '');
      } catch {
        // Not the gateway: the sign-in page of a proxy before it, which may have kept the file from it.
        reject(unreachableError());
      }
    };
    const form = new FormData();
    form.set('file', file, file.name);
    request.send(form);
  });
}
