import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { indexWorkflowId } from '../../../../schemas/ids.js';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { taskIdOf, until, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway({
    env: { MAX_QUEUED_TASKS: '6', MAX_QUEUED_TASKS_PER_USER: '4', MAX_RUNNING_TASKS_PER_USER: '2' },
  });
  ada = gateway.addUser('ada');
});
afterEach(() => gateway.close());

function post(fileId: string, token = ada.token, partition = 'notes') {
  return gateway.call('POST', `/indexer/partition/${partition}/file/${fileId}`, {
    body: uploadForm(`text of ${partition}/${fileId}`),
    token,
  });
}

async function upload(fileId: string, token?: string, partition?: string) {
  return taskIdOf(await post(fileId, token, partition));
}

async function ask(path: string, token?: string, method = 'GET') {
  const response = await gateway.call(method, path, token === undefined ? {} : { token });
  return [response.status, await response.json()];
}

async function listed(query = '', token = ada.token): Promise<string[]> {
  const [, body] = (await ask(`/queue/tasks${query}`, token)) as [number, { tasks: { task_id: string }[] }];
  return body.tasks.map(({ task_id }) => task_id);
}

const FAILURE = { code: 'FILE_CORRUPT', message: 'Damaged.', traceback: [] };

describe('GET /queue/info', () => {
  it('is for administrators', async () => {
    expect((await ask('/queue/info', ada.token))[0]).toBe(403);
  });

  it('counts workers that live, and tasks by state', async () => {
    const [first] = [await upload('a'), await upload('b')];
    await gateway.adapters.tasks.begin(first);
    await gateway.adapters.tasks.finish(await upload('c'), 'FAILED', FAILURE);
    const worker = { slots: 3, started_at: new Date(), renewed: {} };
    await gateway.adapters.workers.report({ ...worker, worker_id: 'one', seen_at: new Date() });
    await gateway.adapters.workers.report({ ...worker, worker_id: 'two', slots: 2, seen_at: new Date() });
    await gateway.adapters.workers.report({ ...worker, worker_id: 'dead', seen_at: new Date(0) });
    expect(await ask('/queue/info')).toEqual([
      200,
      {
        workers: { total_slots: 5, pool_size: 2, max_per_actor: 3 },
        tasks: {
          active: 2,
          active_statuses: { QUEUED: 1, SERIALIZING: 1 },
          total_cancelled: 0,
          total_completed: 0,
          total_failed: 1,
        },
      },
    ]);
  });
});

describe('GET /queue/tasks', () => {
  it("shows the caller's own tasks, and everybody's to an administrator", async () => {
    const bob = gateway.addUser('bob');
    const [mine, his] = [await upload('a'), await upload('a', bob.token, 'his')];
    expect(await listed()).toEqual([mine]);
    expect(await listed('', bob.token)).toEqual([his]);
    expect(new Set(await listed('', ADMIN_TOKEN))).toEqual(new Set([mine, his]));
    expect((await gateway.call('GET', '/queue/tasks', { token: null })).status).toBe(403);
  });

  it('filters by a state in any case; unknown states have none, unknown query names are ignored', async () => {
    const running = await upload('a');
    const failed = await upload('b');
    await gateway.adapters.tasks.finish(failed, 'FAILED', FAILURE);
    expect(await listed('?task_status=active')).toEqual([running]);
    expect(await listed('?task_status=Failed')).toEqual([failed]);
    for (const none of ['COMPLETED', 'CHUNKING', 'nonsense'])
      expect(await listed(`?task_status=${none}`)).toEqual([]);
    expect(await listed('?status=FAILED&x=1')).toHaveLength(2);
  });

  it('has rows with details, times and addresses', async () => {
    const failed = await upload('b');
    await gateway.adapters.tasks.begin(failed);
    await gateway.adapters.tasks.finish(failed, 'FAILED', FAILURE);
    expect((await ask('/queue/tasks', ada.token))[1]).toEqual({
      tasks: [
        {
          task_id: failed,
          state: 'FAILED',
          created_at: expect.any(String),
          details: expect.objectContaining({ file_id: 'b', partition: 'notes', user_id: ada.userId }),
          duration_ms: expect.any(Number),
          url: `${gateway.url}/indexer/task/${failed}`,
          error: { code: FAILURE.code, message: FAILURE.message },
          error_url: `${gateway.url}/indexer/task/${failed}/error`,
        },
      ],
    });
  });
});

describe('GET /queue/tasks of a partition', () => {
  it("lists what was uploaded into it, of the caller alone unless it is an administrator's", async () => {
    const bob = gateway.addUser('bob');
    const [mine, other] = [await upload('a'), await upload('a', ada.token, 'other')];
    const his = await upload('a', bob.token, 'his');
    await gateway.adapters.tasks.finish(mine, 'FAILED', FAILURE);
    expect(await listed('?partition=notes')).toEqual([mine]);
    expect(await listed('?partition=notes&task_status=FAILED')).toEqual([mine]);
    expect(await listed('?partition=other&task_status=active')).toEqual([other]);
    expect(await listed('?partition=other&task_status=FAILED')).toEqual([]);
    expect(await listed('?partition=his')).toEqual([]);
    expect(await listed('?partition=none')).toEqual([]);
    expect(await listed('?partition=his', ADMIN_TOKEN)).toEqual([his]);
    expect(await listed('?partition=notes', bob.token)).toEqual([]);
  });

  it('has 500 ended ones of it, however many newer ones others have', async () => {
    const task = (await gateway.adapters.tasks.get(await upload('a')))!;
    await gateway.adapters.tasks.finish(task.task_id, 'FAILED', FAILURE);
    for (let index = 1; index <= 500; index += 1)
      await gateway.adapters.tasks.insert({
        ...task,
        task_id: `${task.task_id}-${index}`,
        partition: 'busy',
        state: 'FAILED',
        created_at: new Date(task.created_at.getTime() + index),
      });
    expect(await listed('?task_status=FAILED', ADMIN_TOKEN)).not.toContain(task.task_id);
    expect(await listed('?task_status=FAILED&partition=notes', ADMIN_TOKEN)).toEqual([task.task_id]);
    expect(await listed('?partition=busy', ADMIN_TOKEN)).toHaveLength(500);
  });
});

describe('many tasks in GET /queue/tasks', () => {
  const COUNT = 230;
  beforeEach(async () => {
    const task = (await gateway.adapters.tasks.get(await upload('a')))!;
    for (let index = 1; index < COUNT; index += 1)
      await gateway.adapters.tasks.insert({
        ...task,
        task_id: `${task.task_id}-${index}`,
        created_at: new Date(task.created_at.getTime() - index),
        metadata: { place: index, words: 'x'.repeat(4_000) },
      });
  });

  it('are written while their metadata are read, some at a time', async () => {
    const read = jest.spyOn(gateway.adapters.tasks, 'readMetadata');
    const whole = jest.spyOn(gateway.adapters.files, 'getMany');
    const response = await gateway.call('GET', '/queue/tasks', { token: ada.token });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, null]);
    const { tasks } = (await response.json()) as { tasks: { details: { metadata: { place?: number } } }[] };
    const places = tasks.map(({ details }) => details.metadata.place ?? 0);
    expect(places).toEqual(Array.from({ length: COUNT }, (_, index) => index));
    expect(Math.max(...read.mock.calls.map(([ids]) => ids.length))).toBeLessThanOrEqual(100);
    expect(whole).not.toHaveBeenCalled();
  });

  it("are not read with the metadata of others' files for an administrator", async () => {
    const read = jest.spyOn(gateway.adapters.tasks, 'readMetadata');
    expect(await listed('', ADMIN_TOKEN)).toHaveLength(COUNT);
    expect(read).not.toHaveBeenCalled();
  });
});

describe('the workflow of a task in GET /queue/tasks', () => {
  it('is named to administrators', async () => {
    const task = await upload('b');
    const record = (await gateway.adapters.tasks.get(task))!;
    const [, { tasks }] = (await ask('/queue/tasks')) as [number, { tasks: { workflow_id?: string }[] }];
    const ids = tasks.map(({ workflow_id: id }) => id);
    expect(ids).toContain(indexWorkflowId('', record.file_key, record.generation));
  });
});

describe('GET /actors/ and POST /actors/{actor_name}/restart', () => {
  const stateOf = async (name: string) => {
    const [, body] = (await ask('/actors/')) as [number, { actors: { name: string; state: string }[] }];
    return body.actors.find((actor) => actor.name === name)?.state;
  };

  it('are for administrators', async () => {
    expect((await ask('/actors/', ada.token))[0]).toBe(403);
    expect((await ask('/actors/MarkerPool/restart', ada.token, 'POST'))[0]).toBe(403);
  });

  it('name the pools, with ids that stay', async () => {
    const [, first] = (await ask('/actors/')) as [number, { actors: { name: string; actor_id: string }[] }];
    expect(first.actors.map(({ name }) => name)).toEqual([
      'TaskStateManager',
      'MarkerPool',
      'SerializerQueue',
      'llmSemaphore',
      'vlmSemaphore',
    ]);
    const [status, restarted] = await ask('/actors/TaskStateManager/restart', undefined, 'POST');
    expect([status, restarted]).toMatchObject([
      200,
      { actor_name: 'TaskStateManager', actor_id: first.actors[0]?.actor_id },
    ]);
    expect((await ask('/queue/info'))[0]).toBe(200);
    expect(await stateOf('TaskStateManager')).toBe('ALIVE');
    expect((await ask('/actors/nobody/restart', undefined, 'POST'))[0]).toBe(404);
  });

  it('tell who is alive, who is dead, and who is being made anew', async () => {
    expect(await stateOf('MarkerPool')).toBe('DEAD');
    const worker = { worker_id: 'one', slots: 2, started_at: new Date(Date.now() - 60_000) };
    const report = (renewed: Record<string, Date>) =>
      gateway.adapters.workers.report({ ...worker, seen_at: new Date(), renewed });
    await report({});
    expect(await stateOf('MarkerPool')).toBe('ALIVE');
    await ask('/actors/MarkerPool/restart', undefined, 'POST');
    expect(await stateOf('MarkerPool')).toBe('PENDING_CREATION');
    expect(await stateOf('llmSemaphore')).toBe('ALIVE');
    await report({ MarkerPool: (await gateway.adapters.workers.restarts()).get('MarkerPool')! });
    expect(await stateOf('MarkerPool')).toBe('ALIVE');
  });
});

describe('GET /indexer/task/{task_id}/events', () => {
  const open = (taskId: string, init: RequestInit & { token?: string } = {}) =>
    gateway.call('GET', `/indexer/task/${taskId}/events`, { token: ada.token, ...init });

  it('is for the owner and administrators, and 404 for an unknown task', async () => {
    const taskId = await upload('a');
    expect((await open(taskId, { token: gateway.addUser('outsider').token })).status).toBe(403);
    expect((await open('none')).status).toBe(404);
  });

  it('tells each change, and ends with the final one', async () => {
    const taskId = await upload('a');
    const response = await open(taskId);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const states = () =>
      [...text.matchAll(/^event: status\ndata: (.*)$/gm)].map(
        ([, data]) => (JSON.parse(data!) as { task_state: string }).task_state,
      );
    const readTo = async (count: number) => {
      while (states().length < count) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`ended after ${text}`);
        text += value;
      }
    };
    await readTo(1);
    await gateway.adapters.tasks.begin(taskId);
    await readTo(2);
    await gateway.adapters.tasks.finish(taskId, 'FAILED', FAILURE);
    await readTo(3);
    expect(states()).toEqual(['QUEUED', 'SERIALIZING', 'FAILED']);
    expect((await reader.read()).done).toBe(true);
  });

  it('ends well when the record cannot be read any more', async () => {
    const taskId = await upload('a');
    gateway.adapters.tasks.getHeads = () => Promise.reject(new Error('10.0.0.5 went away'));
    const text = await (await open(taskId)).text();
    expect(text.split('\n\n')).toEqual([
      expect.stringMatching(/^event: status\ndata: \{/),
      'data: {"error":{"message":"An unexpected error occurred","type":"error","param":null,"code":"UNEXPECTED_ERROR"}}',
      'data: [DONE]',
      '',
    ]);
  });

  it('ends when the token is no longer its user’s', async () => {
    const taskId = await upload('a');
    const response = await open(taskId);
    await gateway.adapters.users.setToken(ada.userId, 'f'.repeat(64));
    expect(await response.text()).toContain('"code":"AUTH_ERROR"');
  });

  it('reads metadata and the record of its file when the task has changed, not at each look', async () => {
    const taskId = await upload('a');
    const { tasks, files } = gateway.adapters;
    const counts = { looks: 0, files: 0 };
    const [lookAt, readPlaces] = [tasks.getHeads, files.partitionsOf];
    const whole = jest.spyOn(tasks, 'getMany');
    tasks.getHeads = (ids) => {
      counts.looks += 1;
      return lookAt(ids);
    };
    files.partitionsOf = (...asked) => {
      counts.files += 1;
      return readPlaces(...asked);
    };
    // Its caller is not asked for anew meanwhile.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const client = new AbortController();
    const response = await open(taskId, { signal: client.signal });
    const reader = response.body!.getReader();
    await reader.read();
    await until(() => counts.looks >= 5);
    expect(whole).toHaveBeenCalledTimes(1);
    const before = counts.files;
    await until(() => counts.looks >= 10);
    expect(counts.files).toBe(before);
    await tasks.begin(taskId);
    await reader.read();
    expect(counts.files).toBe(before + 1);
    expect(whole).toHaveBeenCalledTimes(2);
    client.abort();
    clock.mockRestore();
  });

  it('stops asking when the client is gone', async () => {
    const taskId = await upload('a');
    let asked = 0;
    const { getHeads } = gateway.adapters.tasks;
    gateway.adapters.tasks.getHeads = (ids) => {
      asked += 1;
      return getHeads(ids);
    };
    const client = new AbortController();
    const response = await open(taskId, { signal: client.signal });
    await response.body!.getReader().read();
    await until(() => asked >= 2);
    client.abort();
    const before = asked;
    // Three looks later than the last one that may have been under way.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(asked - before).toBeLessThanOrEqual(1);
  });
});

describe('admission', () => {
  it('is answered 429 with a time to wait beyond the bound of a user, and of the server', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await upload(id);
    const refused = await post('e');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect(await refused.json()).toEqual({
      detail: 'Rate limit exceeded. Please retry later.',
      extra: {},
    });
    const bob = gateway.addUser('bob');
    for (const id of ['a', 'b']) await upload(id, bob.token, 'his');
    expect((await post('c', bob.token, 'his')).status).toBe(429);
    const [first] = await listed('', ada.token);
    await gateway.call('DELETE', `/indexer/task/${first}`, { token: ada.token });
    expect((await post('e')).status).toBe(201);
  });

  it('starts so many of a user at once; the others wait for their turn', async () => {
    const tasks = [];
    for (const id of ['a', 'b', 'c', 'd']) tasks.push(await upload(id));
    expect(gateway.workflows.started).toEqual(tasks.slice(0, 2));
    expect(gateway.workflows.state.dispatches).toBe(2);
    const bob = gateway.addUser('bob');
    const his = await upload('a', bob.token, 'his');
    expect(gateway.workflows.started).toContain(his);
  });
});

describe('GET /admin/retention', () => {
  it('counts ended tasks and callbacks that are due, and removes none', async () => {
    expect((await ask('/admin/retention', ada.token))[0]).toBe(403);
    const ended = await upload('old');
    await gateway.adapters.tasks.finish(ended, 'COMPLETED');
    const { file_key: key, generation } = (await gateway.adapters.tasks.get(ended))!;
    await gateway.adapters.tasks.markCleaned(key, generation);
    const rows = [
      { of: 'tasks', days: 30, before: expect.any(String), due: 0, more: false },
      { of: 'callbacks', days: 30, before: expect.any(String), due: 0, more: false },
    ];
    expect(await ask('/admin/retention')).toEqual([200, { records: rows }]);
    expect((await ask('/admin/retention?days=0'))[0]).toBe(422);
    expect(await gateway.adapters.tasks.get(ended)).not.toBeNull();
  });
});
