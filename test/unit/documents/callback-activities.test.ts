import { beforeEach, describe, expect, it } from '@jest/globals';
import { createCallbackActivities } from '../../../activities/documents/callback-activities.js';
import type { CallbackClient } from '../../../activities/ports/tasks.js';
import { AppError } from '../../../schemas/app-error.js';
import type { TaskState } from '../../../schemas/documents/tasks.js';
import { sampleTask } from '../../contracts/samples.js';
import { inActivity } from '../../support/activity-bench.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';

let stores: ReturnType<typeof createFakeStores>;
let answers: (number | Error)[];
let sent: Parameters<CallbackClient['post']>[0][];
const callbackClient: CallbackClient = {
  async post(request) {
    sent.push(request);
    const answer = answers.shift() ?? 200;
    if (answer instanceof Error) throw answer;
    return answer;
  },
  close: async () => undefined,
};

function activities(hoursLater = 0) {
  return createCallbackActivities({
    adapters: { ...stores, callbackClient },
    settings: { graceMs: -1000 },
    now: () => new Date(Date.now() + hoursLater * 3_600_000),
  });
}

beforeEach(() => {
  stores = createFakeStores();
  answers = [];
  sent = [];
});

async function ended(state: TaskState | null, metadata = {}) {
  const task = sampleTask({ metadata });
  await stores.tasks.insert(task);
  await stores.callbacks.insert({ taskId: task.task_id, url: 'https://example.org/', token: 't' });
  if (state !== null) await stores.tasks.finish(task.task_id, state as 'FAILED');
  return task.task_id;
}

function send(taskId: string) {
  return inActivity(() => activities().sendCallback(taskId)).result;
}

describe('sendCallback', () => {
  it("tells success with the client's own metadata, integers exact", async () => {
    const taskId = await ended('COMPLETED', { doc_rev: 9007199254740993n, filename: 'x', source: 'y' });
    await send(taskId);
    expect(sent).toMatchObject([
      {
        url: 'https://example.org/',
        token: 't',
        body: '{"partition":"library","file_id":"guide","status":"success","metadata":{"doc_rev":9007199254740993}}',
      },
    ]);
    expect(await stores.callbacks.get(taskId)).toMatchObject({ state: 'delivered', last_status: 200 });
    await send(taskId);
    expect(sent).toHaveLength(1);
  });

  it('tells an error, and fails to be tried again until it is taken', async () => {
    const taskId = await ended('FAILED');
    answers = [503, new Error('hung up'), 301];
    for (const _ of answers.slice()) await expect(send(taskId)).rejects.toThrow();
    expect(await stores.callbacks.get(taskId)).toMatchObject({
      state: 'waiting',
      attempts: 3,
      last_status: 301,
      last_error: 'The receiver answered 301',
    });
    await send(taskId);
    expect(JSON.parse(sent.at(-1)!.body)).toMatchObject({ status: 'error' });
    expect(await stores.callbacks.get(taskId)).toMatchObject({ state: 'delivered', attempts: 4 });
  });

  it('says nothing of a cancelled task', async () => {
    const taskId = await ended('CANCELLED');
    await send(taskId);
    expect(sent).toEqual([]);
    expect((await stores.callbacks.get(taskId))?.state).toBe('withdrawn');
  });
});

describe('giveUpCallback', () => {
  it('ends it with its last reason, and no sweep finds it any more', async () => {
    const refused = await ended('COMPLETED');
    answers = [new AppError('CALLBACK_REFUSED', 'a private address')];
    await expect(send(refused)).rejects.toMatchObject({ code: 'CALLBACK_REFUSED' });
    await activities().giveUpCallback(refused);
    const record = await stores.callbacks.get(refused);
    expect(record).toMatchObject({ state: 'failed', attempts: 1, last_error: 'a private address' });
    expect(await activities(2).findUntoldCallbacks()).toEqual([]);
    await send(refused);
    expect(sent).toHaveLength(1);
  });

  it('leaves one that was delivered as it is', async () => {
    const told = await ended('COMPLETED');
    await send(told);
    await activities().giveUpCallback(told);
    expect((await stores.callbacks.get(told))?.state).toBe('delivered');
  });
});

describe('findUntoldCallbacks', () => {
  it('finds ended tasks whose callback nobody has tried', async () => {
    const untold = await ended('FAILED');
    const running = await ended(null);
    const cancelled = await ended('CANCELLED');
    const told = await ended('COMPLETED');
    await send(told);
    expect(await activities().findUntoldCallbacks()).toEqual([untold]);
    expect((await stores.callbacks.get(running))?.state).toBe('waiting');
    expect((await stores.callbacks.get(cancelled))?.state).toBe('withdrawn');
  });

  it('finds those whose last attempt is long ago, and gives them up in the end', async () => {
    const stalled = await ended('COMPLETED');
    answers = [503];
    await expect(send(stalled)).rejects.toThrow();
    expect(await activities().findUntoldCallbacks()).toEqual([]);
    expect(await activities(2).findUntoldCallbacks()).toEqual([stalled]);
    expect((await stores.callbacks.get(stalled))?.state).toBe('waiting');
    expect(await activities(37).findUntoldCallbacks()).toEqual([]);
    expect((await stores.callbacks.get(stalled))?.state).toBe('failed');
  });
});
