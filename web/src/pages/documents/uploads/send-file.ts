import { errorOf } from '../../../api/api-error';
import { noteStatus, unreachableError, writingHeaders } from '../../../api/client';
import type { Upload } from './upload';

/**
 * Sends the bytes and answers the id of the task. By XMLHttpRequest, since fetch does not tell how much was sent.
 * @throws ApiError
 */
export function sendFile(
  { partition, fileId, file, replace }: Upload,
  onSent: (share: number) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const path = `/indexer/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(fileId)}`;
    request.open(replace ? 'PUT' : 'POST', path);
    for (const [name, value] of Object.entries(writingHeaders())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 1 : loaded / total);
    request.onerror = () => reject(unreachableError());
    request.onload = () => {
      if (request.status >= 300) {
        noteStatus(request.status);
        const headers = new Headers();
        const wait = request.getResponseHeader('Retry-After');
        if (wait !== null) headers.set('Retry-After', wait);
        reject(errorOf(request.status, request.responseText, headers));
        return;
      }
      const { task_status_url: url } = JSON.parse(request.responseText) as { task_status_url: string };
      resolve(url.split('/').at(-1) ?? '');
    };
    const form = new FormData();
    form.set('file', file, file.name);
    request.send(form);
  });
}
