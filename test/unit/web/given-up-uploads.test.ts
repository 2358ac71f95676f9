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

/** Tasks that were cancelled, or asked to be. */
let cancelled: string[] = [];
/** Those that have ended. */
const ended = new Set<string>();

const location = { origin: 'http://console.test' };
Object.assign(globalThis, {
  window: { location, addEventListener: () => undefined },
  XMLHttpRequest: HeldRequest,
  fetch: ({ method, url }: Request) => {
    if (method !== 'DELETE') return new Promise(() => undefined);
    const task = url.split('/').at(-1)!;
    cancelled.push(task);
    return Promise.resolve(Response.json({}, { status: ended.has(task) ? 409 : 200 }));
  },
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
    drop(id: number): Promise<void>;
    dropAll(partition: string): Promise<void>;
    replaceAll(partition: string): void;
    leaveAll(partition: string): void;
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
  cancelled = [];
});

function phases(): string[] {
  return uploadQueue.current().map(({ fileId, phase }) => `${fileId} ${phase}`);
}

/** The server takes the one that was begun as this one of all. */
async function take(index: number, taskId: string): Promise<void> {
  HeldRequest.begun[index]!.answer(201, { task_status_url: `http://console.test/indexer/task/${taskId}` });
  await until('its task is known', async () => HeldRequest.begun.length > index + 2);
}

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

test('one is given up at any point before it is done: not sent, broken off, or its task cancelled', async () => {
  uploadQueue.add('mill', filesOf('a.md', 'b.md', 'c.md', 'd.md', 'e.md'));
  await take(0, 't-a');
  const [a, b, , d] = uploadQueue.current();
  await uploadQueue.drop(d!.id);
  await uploadQueue.drop(b!.id);
  expect(HeldRequest.begun[1]!.isAborted).toBe(true);
  await uploadQueue.drop(a!.id);
  expect(cancelled).toEqual(['t-a']);
  expect(phases()).toEqual(['a.md cancelled', 'c.md uploading', 'e.md uploading']);
});

test('all of a partition are given up at once, and a task that has ended is left as it is', async () => {
  uploadQueue.add('mill', filesOf('a.md', 'b.md', 'c.md', 'd.md', 'e.md'));
  uploadQueue.add('harbour', filesOf('f.md'));
  await take(0, 't-a');
  await take(1, 't-b');
  ended.add('t-a');
  await uploadQueue.dropAll('mill');
  expect(cancelled).toEqual(['t-a', 't-b']);
  expect(phases()).toEqual(['a.md indexing', 'b.md cancelled', 'f.md uploading']);
});

test('one that is given up when all of it was sent is cancelled once the server says its task', async () => {
  uploadQueue.add('mill', filesOf('a.md'));
  const [request] = HeldRequest.begun;
  request!.upload.onprogress?.({ loaded: 10, total: 10 });
  await uploadQueue.drop(uploadQueue.current()[0]!.id);
  expect(uploadQueue.current()).toEqual([]);
  expect(request!.isAborted).toBe(false);
  request!.answer(201, { task_status_url: 'http://console.test/indexer/task/t-late' });
  await until('its task is cancelled', async () => cancelled.length > 0);
  expect(cancelled).toEqual(['t-late']);
});

test.each([
  { choice: 'replaced', choose: () => uploadQueue.replaceAll('mill'), left: ['PUT', 'PUT'] },
  { choice: 'left', choose: () => uploadQueue.leaveAll('mill'), left: [] },
])('all that are there already are $choice at once', async ({ choose, left }) => {
  uploadQueue.add('mill', filesOf('a.md', 'b.md', 'c.md'));
  HeldRequest.begun[0]!.answer(409, { detail: "File 'a.md' already exists in partition mill" });
  HeldRequest.begun[1]!.answer(409, { detail: "File 'b.md' already exists in partition mill" });
  await until('the last one is sent', async () => HeldRequest.begun.length > 2);
  HeldRequest.begun[2]!.answer(409, { detail: '[DOCUMENT_CONTENT_EXISTS]: as other.md' });
  await until('all are refused', async () => phases().every((phase) => phase.endsWith('failed')));
  choose();
  expect(phases()).toEqual([...(left.length > 0 ? ['a.md uploading', 'b.md uploading'] : []), 'c.md failed']);
  expect(HeldRequest.begun.slice(3).map(({ method }) => method)).toEqual(left);
});
