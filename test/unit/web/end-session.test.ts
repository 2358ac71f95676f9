import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

const SIGN_OUT = 'DELETE /app/session';

/** What was asked, and how each deletion of a file is answered. */
const asked: string[] = [];
let answer: () => Promise<Response>;

async function serve(path: string, { method }: RequestInit): Promise<Response> {
  asked.push(`${method} ${path}`);
  return path === '/app/session' ? new Response(null, { status: 204 }) : answer();
}

Object.assign(globalThis, { window: { location: { origin: 'http://console.test' } }, fetch: jest.fn(serve) });
const { send } = await loadWeb<{ send(path: string, init: RequestInit): Promise<Response> }>('api/client');
const { endSession } = await loadWeb<{ endSession(): Promise<Response> }>('api/end-session');
const { pendingDeletions } = await loadWeb<{
  pendingDeletions: {
    add(deletion: { partition: string; file: string; onUndo: () => void; onHurry: () => void }): void;
    commit(partition: string, file: string): boolean;
    follow(request: Promise<unknown>): void;
    undo(partition: string, file: string): boolean;
  };
}>('pages/documents/uploads/pending-deletions');

/** As the page of the files has it: the notice that offers to undo it deletes the file when it goes. */
function remove(file: string): () => void {
  const onHurry = () => {
    if (pendingDeletions.commit('mill', file))
      pendingDeletions.follow(send(`/file/${file}`, { method: 'DELETE' }));
  };
  pendingDeletions.add({ partition: 'mill', file, onUndo: () => undefined, onHurry });
  return onHurry;
}

beforeEach(() => {
  jest.useFakeTimers();
  asked.length = 0;
  answer = async () => new Response(null, { status: 204 });
});
afterEach(() => void jest.useRealTimers());

test('the session ends when the server has deleted what could be undone, and what was on its way', async () => {
  const release: (() => void)[] = [];
  answer = () => new Promise((resolve) => release.push(() => resolve(new Response(null, { status: 204 }))));
  const goes = remove('one.md');
  remove('two.md');
  remove('undone.md');
  pendingDeletions.undo('mill', 'undone.md');
  goes();
  const ending = endSession();
  await jest.advanceTimersByTimeAsync(0);
  release[1]?.();
  await jest.advanceTimersByTimeAsync(0);
  expect(asked).toEqual(['DELETE /file/one.md', 'DELETE /file/two.md']);
  release[0]?.();
  expect((await ending).status).toBe(204);
  expect(asked).toEqual(['DELETE /file/one.md', 'DELETE /file/two.md', SIGN_OUT]);
});

test('the session ends where a deletion is refused', async () => {
  answer = async () => Response.json({ detail: 'No' }, { status: 409 });
  remove('one.md');
  await endSession();
  expect(asked).toEqual(['DELETE /file/one.md', SIGN_OUT]);
});

test('the session ends where a deletion is never answered', async () => {
  answer = () => new Promise(() => undefined);
  remove('one.md');
  const ending = endSession();
  await jest.advanceTimersByTimeAsync(10_000);
  await ending;
  expect(asked).toEqual(['DELETE /file/one.md', SIGN_OUT]);
});
