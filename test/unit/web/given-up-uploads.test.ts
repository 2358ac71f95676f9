import { beforeEach, expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';
import { until } from '../../support/until.js';

/** A transfer that the test answers. */
class HeldRequest {
  static begun: HeldRequest[] = [];
  readonly upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {};
  method = '';
  url = new URL('http://console.test');
  status = 0;
  responseText = '';
  isAborted = false;
  onload = (): void => undefined;
  onerror = (): void => undefined;
  onabort = (): void => undefined;
  open(method: string, path: string): void {
    this.method = method;
    this.url = new URL(path, location.origin);
  }
  setRequestHeader(): void {
    // Not read.
  }
  getResponseHeader(): null {
    return null;
  }
  send(): void {
    HeldRequest.begun.push(this);
  }
  abort(): void {
    this.isAborted = true;
    this.onabort();
  }
  answer(status: number, body: unknown): void {
    this.status = status;
    this.responseText = JSON.stringify(body);
    this.onload();
  }
}

const location = { origin: 'http://console.test' };
Object.assign(globalThis, {
  window: { location, addEventListener: () => undefined },
  XMLHttpRequest: HeldRequest,
  fetch: () => new Promise(() => undefined),
});
const { setCsrfToken } = await loadWeb<{ setCsrfToken(token: string): void }>('api/client');
setCsrfToken('of this session');
interface Upload {
  id: number;
  partition: string;
  fileId: string;
  phase: string;
  error: unknown;
}
const { uploadQueue } = await loadWeb<{
  uploadQueue: {
    current(): Upload[];
    add(partition: string, files: File[], as?: { fileId: string; replace: boolean }): void;
    giveUp(partition: string): void;
  };
}>('pages/documents/uploads/upload-queue');

function filesOf(...names: string[]): File[] {
  return names.map((name) => new File([name], name));
}

function begun(): string[] {
  return HeldRequest.begun.map(({ url }) => url.pathname.replace('/indexer/partition/', ''));
}

beforeEach(() => {
  for (const { partition } of uploadQueue.current()) uploadQueue.giveUp(partition);
  HeldRequest.begun = [];
});

test('what is sent into a partition that was deleted does not bring it back, and the rest of it fails', async () => {
  uploadQueue.add('mill', filesOf('a.md', 'b.md', 'c.md', 'd.md'));
  uploadQueue.add('harbour', filesOf('e.md'));
  uploadQueue.add('mill', filesOf('f.md'), { fileId: 'f.md', replace: true });
  expect(begun()).toEqual(['mill/file/a.md', 'mill/file/b.md']);
  const [first] = HeldRequest.begun;
  expect(first!.url.searchParams.get('create_partition')).toBe('false');
  first!.answer(404, { detail: "Partition 'mill' not found" });
  await until('the next one is sent', async () => HeldRequest.begun.length > 2);
  expect(begun()[2]).toBe('harbour/file/e.md');
  const failed = uploadQueue.current().filter(({ phase }) => phase === 'failed');
  expect(failed.map(({ fileId }) => fileId)).toEqual(['a.md', 'c.md', 'd.md', 'f.md']);
  for (const { error } of failed) expect(error).toMatchObject({ kind: 'partitionDeleted' });
});

test('nothing more is sent into a partition that is given up, and others go on', async () => {
  uploadQueue.add('mill', filesOf('a.md', 'b.md', 'c.md'));
  uploadQueue.add('harbour', filesOf('d.md', 'e.md', 'f.md'));
  uploadQueue.giveUp('mill');
  expect(HeldRequest.begun.slice(0, 2).map(({ isAborted }) => isAborted)).toEqual([true, true]);
  expect(begun().slice(2)).toEqual(['harbour/file/d.md', 'harbour/file/e.md']);
  expect(uploadQueue.current().map(({ partition }) => partition)).toEqual(['harbour', 'harbour', 'harbour']);
  HeldRequest.begun[2]!.answer(201, { task_status_url: 'http://console.test/indexer/task/t-1' });
  await until('the next one is sent', async () => HeldRequest.begun.length > 4);
  expect(begun()[4]).toBe('harbour/file/f.md');
  expect(uploadQueue.current().map(({ phase }) => phase)).toEqual(['indexing', 'uploading', 'uploading']);
});
