import { afterAll, beforeEach, expect, jest, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

interface Answer {
  status: number;
  body?: object;
}

/** What the server says of each task; null: it is away. */
let answers: Record<string, Answer | null> = {};
let asked: string[] = [];

jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick', 'setImmediate'] });
afterAll(() => void jest.useRealTimers());
Object.assign(globalThis, {
  window: { location: { origin: 'http://console.test' } },
  fetch: ({ url }: Request) => {
    const task = url.split('/').at(-1)!;
    asked.push(task);
    const answer = answers[task] ?? null;
    if (answer === null) return Promise.reject(new TypeError('away'));
    return Promise.resolve(Response.json(answer.body ?? {}, { status: answer.status }));
  },
});
const { setCsrfToken } = await loadWeb<{ setCsrfToken(token: string | null): void }>('api/client');
const { createTaskWatch } = await loadWeb<{
  createTaskWatch(watch: {
    listed: () => { id: number; taskId: string }[];
    onStatus: (id: number, status: { task_state: string }) => void;
    onGone: (id: number, error: { status: number }) => void;
  }): () => void;
}>('pages/documents/uploads/watch-tasks');

/** States as they are told; a task that is final or gone is not watched any more. */
let told: Map<number, string | number>;
let look: () => void;
function watch(count: number): void {
  const tasks = Array.from({ length: count }, (_, index) => ({ id: index, taskId: `t${index}` }));
  told = new Map();
  look = createTaskWatch({
    listed: () => tasks.filter(({ id }) => [undefined, 'SERIALIZING'].includes(told.get(id) as string)),
    onStatus: (id, { task_state: state }) => told.set(id, state),
    onGone: (id, { status }) => told.set(id, status),
  });
  answers = Object.fromEntries(tasks.map(({ taskId }) => [taskId, stateOf('SERIALIZING')]));
}

function stateOf(state: string): Answer {
  return { status: 200, body: { task_state: state } };
}

async function endAll(): Promise<void> {
  answers = Object.fromEntries(Object.keys(answers).map((task) => [task, { status: 404 }]));
  await jest.advanceTimersByTimeAsync(60_000);
}

beforeEach(() => {
  asked = [];
  setCsrfToken('of this session');
});

test('tasks of hours do not hide that others are done', async () => {
  watch(100);
  for (let index = 2; index < 100; index += 1) answers[`t${index}`] = stateOf('COMPLETED');
  look();
  await jest.advanceTimersByTimeAsync(10_000);
  expect([...told.values()].filter((state) => state === 'COMPLETED')).toHaveLength(98);
  expect([told.get(0), told.get(1)]).toEqual(['SERIALIZING', 'SERIALIZING']);
  answers['t1'] = stateOf('COMPLETED');
  await jest.advanceTimersByTimeAsync(5_000);
  expect(told.get(1)).toBe('COMPLETED');
  await endAll();
});

test('many that go on take their turns, within what a user may ask for in a minute', async () => {
  watch(100);
  look();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(told.size).toBe(100);
  expect(asked.length).toBeLessThan(300);
  await endAll();
});

test('one that may not be read any more is watched no more', async () => {
  watch(3);
  answers['t0'] = { status: 403, body: { detail: '[AUTH_ERROR]: not yours' } };
  answers['t1'] = { status: 403, body: { detail: '[AUTH_ERROR]: not yours' } };
  look();
  await jest.advanceTimersByTimeAsync(5_000);
  expect([told.get(0), told.get(1), told.get(2)]).toEqual([403, 403, 'SERIALIZING']);
  await endAll();
});

test('while the server is away, or no session is there, it is asked now and then alone', async () => {
  watch(20);
  answers = {};
  look();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(asked.length).toBeLessThan(15);
  setCsrfToken(null);
  await jest.advanceTimersByTimeAsync(4_000);
  asked = [];
  await jest.advanceTimersByTimeAsync(10_000);
  expect(asked).toEqual([]);
  setCsrfToken('of the next session');
  for (let index = 0; index < 20; index += 1) answers[`t${index}`] = stateOf('COMPLETED');
  await jest.advanceTimersByTimeAsync(4_000);
  expect([...told.values()].filter((state) => state === 'COMPLETED')).toHaveLength(20);
  await endAll();
});
