import { afterAll, beforeEach, expect, jest, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

interface Answer {
  status: number;
  body?: unknown;
}

/** What the server answers, one after the other; then no more. */
let answers: Answer[] = [];
/** Files that were sent, by their ids. */
let sent: string[] = [];

class ScriptedRequest {
  readonly upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {};
  status = 0;
  responseText = '';
  onload = (): void => undefined;
  onerror = (): void => undefined;
  open(_method: string, path: string): void {
    sent.push(path.split('/').at(-1)!);
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
      this.status = answer.status;
      this.responseText = JSON.stringify(answer.body ?? {});
      this.onload();
    });
  }
}

/** Streams of tasks stay silent. */
class SilentEvents {
  addEventListener(): void {
    // Nothing comes.
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
  EventSource: SilentEvents,
});
const { setCsrfToken } = await loadWeb<{ setCsrfToken(token: string | null): void }>('api/client');
interface Upload {
  id: number;
  phase: string;
  error: unknown;
  unanswered: number | null;
}
const { uploadQueue } = await loadWeb<{
  uploadQueue: {
    current(): Upload[];
    add(partition: string, files: File[]): void;
    drop(id: number): void;
    clearOver(partition: string): void;
  };
}>('pages/documents/uploads/upload-queue');

function upload(): Upload {
  return uploadQueue.current().at(-1)!;
}

/** So long that what waits is sent, if it is sent at all. */
async function rest(): Promise<void> {
  await jest.advanceTimersByTimeAsync(REST_MS);
}

beforeEach(() => {
  answers = [];
  sent = [];
  setCsrfToken('of this session');
});

test('an upload whose session has ended waits for the next one, and is sent then', async () => {
  answers = [{ status: 401 }, TAKEN];
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
