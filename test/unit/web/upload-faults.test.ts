import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

interface Answer {
  /** 0: the connection breaks instead, behind some bytes. */
  status: number;
  body?: unknown;
  /** Instead of JSON. */
  page?: string;
}

/** What the server answers, one after the other; then no more. */
let answers: Answer[] = [];
/** Files that were sent, by their ids. */
let sent: string[] = [];
/** How they were sent. */
let methods: string[] = [];

class ScriptedRequest {
  readonly upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {};
  status = 0;
  responseText = '';
  onload = (): void => undefined;
  onerror = (): void => undefined;
  open(method: string, path: string): void {
    methods.push(method);
    sent.push(new URL(path, location.origin).pathname.split('/').at(-1)!);
  }
  setRequestHeader(): void {
    // Not read.
  }
  getResponseHeader(): null {
    return null;
  }
  send(): void {
    const answer = answers.shift();
    if (answer === undefined) return;
    queueMicrotask(() => {
      if (answer.status === 0) {
        this.upload.onprogress?.({ loaded: 1, total: 2 });
        return this.onerror();
      }
      this.status = answer.status;
      this.responseText = answer.page ?? JSON.stringify(answer.body ?? {});
      this.onload();
    });
  }
}

/** What the server answers to who asks for the session; null: it is away. */
let session: number | null = 200;
/** What it answers to who asks for a task, one after the other; then nothing. */
let tasks: Answer[] = [];
function answerFetch(asked: string | Request): Promise<Response> {
  const path = typeof asked === 'string' ? asked : new URL(asked.url).pathname;
  if (path.startsWith('/indexer/task/') && tasks.length === 0) return new Promise(() => undefined);
  if (session === null) return Promise.reject(new TypeError('away'));
  const { status, body = {} } =
    path === '/app/session' ? { status: session } : (tasks.shift() ?? { status: 500 });
  return Promise.resolve(new Response(JSON.stringify(body), { status }));
}

/** As the browser has a file that was removed since it was chosen. */
class RemovedFile extends File {
  override slice(): Blob {
    const gone = (): Promise<never> => Promise.reject(new DOMException('gone', 'NotFoundError'));
    return Object.assign(new Blob([]), { arrayBuffer: gone });
  }
}

const TAKEN: Answer = { status: 201, body: { task_status_url: 'http://console.test/indexer/task/t-1' } };
const REST_MS = 3_000;

jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick', 'setImmediate'] });
afterAll(() => void jest.useRealTimers());
const location = { origin: 'http://console.test' };
Object.assign(globalThis, {
  window: { location, addEventListener: () => undefined },
  XMLHttpRequest: ScriptedRequest,
  fetch: answerFetch,
});
const { setCsrfToken, onUnreachable } = await loadWeb<{
  setCsrfToken(token: string | null): void;
  onUnreachable(listener: () => void): void;
}>('api/client');
let saidAway = 0;
onUnreachable(() => (saidAway += 1));
interface Upload {
  id: number;
  phase: string;
  stage: string;
  progress: number;
  error: unknown;
  unanswered: number | null;
}
const { uploadQueue } = await loadWeb<{
  uploadQueue: {
    current(): Upload[];
    add(partition: string, files: File[]): void;
    again(id: number, replace: boolean): void;
    drop(id: number): void;
    clearOver(partition: string): void;
  };
}>('pages/documents/uploads/upload-queue');
const { pendingDeletions } = await loadWeb<{
  pendingDeletions: {
    add(deletion: { partition: string; file: string; onUndo: () => void }): void;
    filesOf(partition: string): string[];
    commit(partition: string, file: string): boolean;
  };
}>('pages/documents/uploads/pending-deletions');

function upload(): Upload {
  return uploadQueue.current().at(-1)!;
}

/** So long that what waits is sent, if it is sent at all. */
async function rest(): Promise<void> {
  await jest.advanceTimersByTimeAsync(REST_MS);
}

beforeEach(() => {
  uploadQueue.clearOver('mill');
  answers = [];
  sent = [];
  methods = [];
  session = 200;
  tasks = [];
  saidAway = 0;
  setCsrfToken('of this session');
});

// Before the others: their tasks are not answered, and only so many are watched at a time.
test('an upload whose task is gone fails, where it was watched for ever', async () => {
  answers = [TAKEN];
  tasks = [
    { status: 503 },
    { status: 200, body: { task_state: 'SERIALIZING', stage: 'embed', progress: 0.5 } },
  ];
  tasks.push({ status: 404, body: { detail: '[TASK_NOT_FOUND]: no such task' } });
  uploadQueue.add('mill', [new File(['one'], 'one.md')]);
  await jest.advanceTimersByTimeAsync(0);
  expect(upload()).toMatchObject({ phase: 'indexing', stage: 'queued' });
  await rest();
  expect(upload()).toMatchObject({ phase: 'indexing', stage: 'embed', progress: 0.5 });
  await rest();
  expect(upload()).toMatchObject({ phase: 'failed', error: { status: 404, code: 'TASK_NOT_FOUND' } });
});

test('an upload shows how far its task is, by questions that are answered at once, until it is final', async () => {
  answers = [TAKEN];
  const running = { task_state: 'SERIALIZING', stage: 'embed', progress: 0.5 };
  tasks = [running, running, { ...running, progress: 0.75 }, { task_state: 'COMPLETED', stage: 'done' }].map(
    (body) => ({ status: 200, body }),
  );
  uploadQueue.add('mill', [new File(['one'], 'one.md')]);
  await jest.advanceTimersByTimeAsync(0);
  expect(upload()).toMatchObject({ phase: 'indexing', stage: 'embed', progress: 0.5 });
  await jest.advanceTimersByTimeAsync(4_000);
  expect(upload()).toMatchObject({ phase: 'indexing', stage: 'embed', progress: 0.75 });
  await jest.advanceTimersByTimeAsync(2_000);
  expect(upload()).toMatchObject({ phase: 'done', stage: 'done', progress: 1 });
});

test.each([
  { of: 'has ended', status: 401, body: {} },
  { of: 'is gone with its cookie', status: 403, body: { detail: 'Missing token' } },
])('an upload whose session $of waits for the next one, and is sent then', async ({ status, body }) => {
  answers = [{ status, body }, TAKEN];
  uploadQueue.add('mill', [new File(['one'], 'one.md')]);
  await jest.advanceTimersByTimeAsync(0);
  expect(upload()).toMatchObject({ phase: 'waiting', unanswered: null });
  setCsrfToken(null);
  await rest();
  await rest();
  expect(sent).toEqual(['one.md']);
  setCsrfToken('of the next session');
  await rest();
  expect(sent).toEqual(['one.md', 'one.md']);
  expect(upload()).toMatchObject({ phase: 'indexing', error: null });
});

test('a file that the browser cannot read fails, and the server is not said to be away', async () => {
  answers = [{ status: 0 }];
  uploadQueue.add('mill', [new RemovedFile([], 'gone.md')]);
  await rest();
  expect(upload()).toMatchObject({ phase: 'failed', error: { kind: 'unreadable' } });
  expect(sent).toEqual(['gone.md']);
  expect(saidAway).toBe(0);
});

test('a file that the server cuts off each time is given up', async () => {
  answers = [{ status: 0 }, { status: 0 }, { status: 0 }, TAKEN];
  uploadQueue.add('mill', [new File(['large'], 'large.md')]);
  for (let times = 1; times <= 5; times += 1) await rest();
  expect(upload()).toMatchObject({ phase: 'failed', error: { kind: 'cutOff' } });
  expect(sent).toHaveLength(3);
  expect(saidAway).toBe(0);
});

test('a file whose transfer breaks while the server is away is sent until it is there', async () => {
  session = null;
  answers = [{ status: 0 }, { status: 0 }, { status: 0 }, { status: 0 }, TAKEN];
  uploadQueue.add('mill', [new File(['one'], 'one.md')]);
  for (let times = 1; times <= 5; times += 1) await rest();
  expect(upload().phase).toBe('indexing');
  expect(saidAway).toBe(4);
});

test('a file that something before the gateway takes is sent again, where it was being sent for ever', async () => {
  answers = [{ status: 200, page: '<html>Sign in to the network</html>' }, TAKEN];
  uploadQueue.add('mill', [new File(['one'], 'one.md')]);
  await jest.advanceTimersByTimeAsync(0);
  expect(upload()).toMatchObject({ phase: 'waiting', error: { status: 0 } });
  await rest();
  expect(sent).toEqual(['one.md', 'one.md']);
  expect(upload().phase).toBe('indexing');
});

test('a file that is cut off since nobody is signed in waits for the next session', async () => {
  session = 401;
  answers = [{ status: 0 }, TAKEN];
  uploadQueue.add('mill', [new File(['one'], 'one.md')]);
  await jest.advanceTimersByTimeAsync(0);
  expect(upload()).toMatchObject({ phase: 'waiting', error: { status: 401 }, cutOff: 0 });
  await rest();
  expect(upload().phase).toBe('indexing');
});

describe('a file that is uploaded while its deletion can be undone', () => {
  const undone: string[] = [];
  const remove = (partition: string, file: string) =>
    pendingDeletions.add({ partition, file, onUndo: () => undone.push(`${partition}/${file}`) });
  beforeEach(() => {
    undone.length = 0;
  });

  test('replaces the one that is there, which is not deleted any more', async () => {
    remove('mill', 'one.md');
    remove('mill', 'two.md');
    remove('harbour', 'one.md');
    answers = [TAKEN];
    uploadQueue.add('mill', [new File(['new'], 'one.md')]);
    await jest.advanceTimersByTimeAsync(0);
    expect(methods).toEqual(['PUT']);
    expect(undone).toEqual(['mill/one.md']);
    expect(pendingDeletions.commit('mill', 'one.md')).toBe(false);
    expect(pendingDeletions.filesOf('mill')).toEqual(['two.md']);
    expect(pendingDeletions.commit('mill', 'two.md')).toBe(true);
    expect(pendingDeletions.commit('harbour', 'one.md')).toBe(true);
  });

  test('and was refused before, is sent again in its place', async () => {
    answers = [{ status: 409 }];
    uploadQueue.add('mill', [new File(['new'], 'three.md')]);
    await jest.advanceTimersByTimeAsync(0);
    expect(upload()).toMatchObject({ phase: 'failed', error: { status: 409 } });
    remove('mill', 'three.md');
    uploadQueue.again(upload().id, false);
    await jest.advanceTimersByTimeAsync(0);
    expect(methods).toEqual(['POST', 'PUT']);
    expect(undone).toEqual(['mill/three.md']);
    expect(pendingDeletions.commit('mill', 'three.md')).toBe(false);
  });
});
