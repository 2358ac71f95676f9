import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sampleReport } from '../../../support/documents/sample-report.js';
import { until } from '../../../support/until.js';
import type { LooseBody } from '../../support/loose-body.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
});
afterEach(() => gateway.close());

async function upload(text = 'text', fileId = 'a1') {
  return taskIdOf(
    await gateway.call('POST', `/indexer/partition/notes/file/${fileId}`, {
      body: uploadForm(text, { metadata: '{"k":1}' }),
      token: ada.token,
    }),
  );
}

async function ask(method: string, path: string, token?: string) {
  const response = await gateway.call(method, path, token === undefined ? {} : { token });
  return [response.status, await response.json()];
}

const FAILURE = { code: 'FILE_ENCRYPTED', message: 'It is locked.', traceback: ['at parse (secret.ts:1)'] };

describe('GET /indexer/task/{task_id}', () => {
  it('is for its owner and administrators', async () => {
    const taskId = await upload();
    const outsider = gateway.addUser('outsider');
    expect((await ask('GET', `/indexer/task/${taskId}`, ada.token))[0]).toBe(200);
    expect((await ask('GET', `/indexer/task/${taskId}`))[0]).toBe(200);
    expect(await ask('GET', `/indexer/task/${taskId}`, outsider.token)).toEqual([
      403,
      { detail: `Access to task '${taskId}' forbidden` },
    ]);
  });

  it('names the file to no administrator who cannot reach its partition', async () => {
    const taskId = await upload();
    await gateway.adapters.tasks.finish(taskId, 'FAILED', FAILURE);
    const seen = async (path: string): Promise<LooseBody> =>
      (await gateway.call('GET', path)).json().then((body: LooseBody) => body.tasks?.[0] ?? body);
    const paths = [`/indexer/task/${taskId}`, '/queue/tasks'];
    const hidden = { file_id: '', partition: 'notes', metadata: {}, user_id: ada.userId };
    for (const path of paths) expect((await seen(path)).details).toEqual(hidden);
    expect(await seen(paths[0]!)).toMatchObject({
      task_state: 'FAILED',
      error: { code: 'FILE_ENCRYPTED', message: 'It is locked.' },
    });
    const events = await (await gateway.call('GET', `${paths[0]}/events`)).text();
    expect(events).toContain('FILE_ENCRYPTED');
    expect(events).not.toContain('notes.txt');
    gateway.addMember(1, 'notes', 'viewer');
    for (const path of paths)
      expect((await seen(path)).details).toMatchObject({ file_id: 'a1', metadata: { k: 1 } });
  });

  it('names the file to an administrator in SUPER_ADMIN_MODE', async () => {
    const powerful = await startGateway({ env: { SUPER_ADMIN_MODE: 'true' } });
    try {
      const { token } = powerful.addUser('eve');
      const path = '/indexer/partition/notes/file/a1';
      const taskId = taskIdOf(await powerful.call('POST', path, { body: uploadForm('text'), token }));
      const response = await powerful.call('GET', `/indexer/task/${await taskId}`);
      expect(await response.json()).toMatchObject({ details: { file_id: 'a1' } });
    } finally {
      await powerful.close();
    }
  });

  it('answers 404 for an unknown task', async () => {
    expect(await ask('GET', '/indexer/task/none')).toEqual([404, { detail: "Task 'none' not found" }]);
  });

  it('tells state, details and progress', async () => {
    const taskId = await upload();
    expect(await ask('GET', `/indexer/task/${taskId}`, ada.token)).toEqual([
      200,
      {
        task_id: taskId,
        task_state: 'QUEUED',
        stage: 'queued',
        progress: 0,
        attempt: 0,
        details: {
          file_id: 'a1',
          partition: 'notes',
          user_id: ada.userId,
          metadata: expect.objectContaining({
            k: 1,
            filename: 'notes.txt',
            file_size: '4.00 B',
            file_id: 'a1',
          }),
        },
        created_at: expect.any(String),
        started_at: null,
        finished_at: null,
      },
    ]);
  });

  it('tells which enrichments failed', async () => {
    const taskId = await upload();
    await gateway.adapters.tasks.noteEnrichment(taskId, { degradedStages: [] });
    expect((await ask('GET', `/indexer/task/${taskId}`))[1]).not.toHaveProperty('degraded_stages');
    await gateway.adapters.tasks.noteEnrichment(taskId, { degradedStages: ['topic_tag'] });
    expect((await ask('GET', `/indexer/task/${taskId}`))[1]).toMatchObject({
      degraded_stages: ['topic_tag'],
    });
  });

  it('tells what came of reading the file, and that it lost content', async () => {
    const taskId = await upload();
    await gateway.adapters.tasks.noteEnrichment(taskId, { parseReport: sampleReport() });
    const [, whole] = await ask('GET', `/indexer/task/${taskId}`, ada.token);
    expect(whole).toMatchObject({ parse_report: sampleReport() });
    expect(whole).not.toHaveProperty('degraded');
    // Administrators who cannot reach the partition.
    expect((await ask('GET', `/indexer/task/${taskId}`))[1]).not.toHaveProperty('parse_report');
    const parseReport = sampleReport({ degraded: true, reasons: ['The PDF is cut off.'] });
    await gateway.adapters.tasks.noteEnrichment(taskId, { parseReport, degradedStages: ['caption'] });
    expect((await ask('GET', `/indexer/task/${taskId}`, ada.token))[1]).toMatchObject({
      degraded: true,
      degraded_stages: ['parse', 'caption'],
      parse_report: parseReport,
    });
  });

  it('tells the error and its address when it FAILED', async () => {
    const taskId = await upload();
    await gateway.adapters.tasks.finish(taskId, 'FAILED', FAILURE);
    expect((await ask('GET', `/indexer/task/${taskId}`, ada.token))[1]).toMatchObject({
      task_state: 'FAILED',
      error: { code: 'FILE_ENCRYPTED', message: 'It is locked.' },
      error_url: `${gateway.url}/indexer/task/${taskId}/error`,
      finished_at: expect.any(String),
    });
  });
});

describe('GET /indexer/task/{task_id}?wait=', () => {
  /** Asks for these, and answers when the gateway waits for all of them at once. */
  const waitFor = async (...taskIds: string[]) => {
    const read = jest.spyOn(gateway.adapters.tasks, 'getMany');
    const answers = taskIds.map((taskId) => ask('GET', `/indexer/task/${taskId}?wait=50`, ada.token));
    await until('all are waited for', async () =>
      read.mock.calls.some(([asked]) => asked.length === taskIds.length),
    );
    return answers;
  };

  it('answers when the task ends', async () => {
    const taskId = await upload();
    const [answer] = await waitFor(taskId);
    await gateway.adapters.tasks.finish(taskId, 'FAILED', FAILURE);
    expect(await answer).toMatchObject([200, { task_state: 'FAILED', error: { code: 'FILE_ENCRYPTED' } }]);
  });

  it('answers at once when it has ended', async () => {
    const taskId = await upload();
    await gateway.adapters.tasks.finish(taskId, 'COMPLETED');
    const read = jest.spyOn(gateway.adapters.tasks, 'getMany');
    expect(await ask('GET', `/indexer/task/${taskId}?wait=50`, ada.token)).toMatchObject([
      200,
      { task_state: 'COMPLETED' },
    ]);
    expect(read).not.toHaveBeenCalled();
  });

  it('answers the task as it is when the time is over', async () => {
    const taskId = await upload();
    expect(await ask('GET', `/indexer/task/${taskId}?wait=1`, ada.token)).toMatchObject([
      200,
      { task_state: 'QUEUED' },
    ]);
  });

  it('reads the tasks of many who wait in one request', async () => {
    const taskIds = await Promise.all(['a1', 'a2', 'a3'].map((fileId) => upload(fileId, fileId)));
    const answers = await waitFor(...taskIds);
    for (const taskId of taskIds) await gateway.adapters.tasks.finish(taskId, 'COMPLETED');
    for (const answer of answers) expect(await answer).toMatchObject([200, { task_state: 'COMPLETED' }]);
  });

  it('answers nothing to a caller who lost the token meanwhile', async () => {
    const taskId = await upload();
    const [answer] = await waitFor(taskId);
    await gateway.adapters.users.markDeleted(ada.userId);
    await gateway.adapters.tasks.finish(taskId, 'COMPLETED');
    expect((await answer)?.[0]).toBe(403);
  });

  it('is gone when the task is', async () => {
    const taskId = await upload();
    const [answer] = await waitFor(taskId);
    await gateway.adapters.tasks.remove(taskId);
    expect((await answer)?.[0]).toBe(404);
  });

  it.each(['-1', '51', 'soon', '1.5'])('refuses %s', async (wait) => {
    const taskId = await upload();
    expect((await ask('GET', `/indexer/task/${taskId}?wait=${wait}`, ada.token))[0]).toBe(422);
  });
});

describe('GET /indexer/task/{task_id}/error', () => {
  it('answers 404 while there is none', async () => {
    const taskId = await upload();
    expect((await ask('GET', `/indexer/task/${taskId}/error`, ada.token))[0]).toBe(404);
    expect((await ask('GET', '/indexer/task/none/error'))[0]).toBe(404);
  });

  it('shows the trace to administrators only', async () => {
    const taskId = await upload();
    await gateway.adapters.tasks.finish(taskId, 'FAILED', FAILURE);
    const summary = '[FILE_ENCRYPTED]: It is locked.';
    expect(await ask('GET', `/indexer/task/${taskId}/error`)).toEqual([
      200,
      { task_id: taskId, reason: 'FILE_ENCRYPTED', summary, traceback: FAILURE.traceback },
    ]);
    expect(await ask('GET', `/indexer/task/${taskId}/error`, ada.token)).toEqual([
      200,
      { task_id: taskId, summary, traceback: [expect.stringContaining('administrator')] },
    ]);
  });
});

describe('DELETE /indexer/task/{task_id}', () => {
  it('shows CANCELLED at once, whatever Temporal does, and frees id and bytes', async () => {
    const taskId = await upload();
    gateway.workflows.state.away = true;
    expect(await ask('DELETE', `/indexer/task/${taskId}`, ada.token)).toEqual([
      200,
      { message: `Cancellation signal sent for task ${taskId}` },
    ]);
    const [, status] = await ask('GET', `/indexer/task/${taskId}`, ada.token);
    expect(status).toMatchObject({ task_state: 'CANCELLED' });
    expect(status).not.toHaveProperty('error');
    expect(await upload()).not.toBe(taskId);
  });

  it('tells the workflow and the clean-up', async () => {
    const task = await gateway.adapters.tasks.get(await upload());
    await ask('DELETE', `/indexer/task/${task?.task_id}`, ada.token);
    expect(gateway.workflows.cancelled).toEqual([`${task?.file_key}/${task?.generation}`]);
    expect(gateway.workflows.cleaned).toEqual([`${task?.file_key}/${task?.generation}`]);
  });

  it('is for its owner and administrators', async () => {
    const taskId = await upload();
    const outsider = gateway.addUser('outsider');
    expect((await ask('DELETE', `/indexer/task/${taskId}`, outsider.token))[0]).toBe(403);
    expect((await ask('DELETE', `/indexer/task/${taskId}`))[0]).toBe(200);
  });

  it('answers 409 when the task has ended, and 404 when there is none', async () => {
    const taskId = await upload();
    await publishTask(gateway, taskId, ['text']);
    expect(await ask('DELETE', `/indexer/task/${taskId}`, ada.token)).toEqual([
      409,
      { detail: `Task ${taskId} is already completed and cannot be cancelled` },
    ]);
    const cancelled = await upload('other', 'a2');
    await ask('DELETE', `/indexer/task/${cancelled}`, ada.token);
    expect((await ask('DELETE', `/indexer/task/${cancelled}`, ada.token))[0]).toBe(409);
    expect((await ask('DELETE', '/indexer/task/none'))[0]).toBe(404);
  });

  it('answers 409 once the version is published, though the task still reads running', async () => {
    const taskId = await upload();
    const { finish } = gateway.adapters.tasks;
    gateway.adapters.tasks.finish = async () => true;
    await publishTask(gateway, taskId, ['text']);
    gateway.adapters.tasks.finish = finish;
    expect((await gateway.adapters.tasks.get(taskId))?.state).toBe('QUEUED');
    expect((await ask('DELETE', `/indexer/task/${taskId}`, ada.token))[0]).toBe(409);
    expect((await gateway.adapters.files.get('notes', 'a1'))?.live?.task_id).toBe(taskId);
  });
});

describe('DELETE /indexer/partition/{partition}/file/{file_id}', () => {
  const PATH = '/indexer/partition/notes/file/a1';

  it('is for editors', async () => {
    await indexText(gateway, { partition: 'notes', fileId: 'a1', token: ada.token }, ['text']);
    const viewer = gateway.addUser('viewer');
    gateway.addMember(viewer.userId, 'notes', 'viewer');
    expect((await ask('DELETE', PATH, viewer.token))[0]).toBe(403);
    expect((await ask('DELETE', PATH))[1]).toEqual({ detail: "Access to partition 'notes' forbidden" });
  });

  it('answers 404 for what is not there, and 400 for what cannot be', async () => {
    expect((await ask('DELETE', PATH, ada.token))[0]).toBe(404);
    expect((await ask('DELETE', '/indexer/partition/notes/file/a%20b', ada.token))[0]).toBe(400);
  });

  it('makes a live file invisible at once, and cleans up behind it', async () => {
    await indexText(gateway, { partition: 'notes', fileId: 'a1', token: ada.token }, ['text']);
    const file = await gateway.adapters.files.get('notes', 'a1');
    const response = await gateway.call('DELETE', PATH, { token: ada.token });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect((await ask('GET', '/partition/notes/file/a1', ada.token))[0]).toBe(404);
    expect(gateway.workflows.cleaned).toEqual([`${file?.file_key}/${file?.latest_generation}`]);
    expect((await gateway.call('DELETE', PATH, { token: ada.token })).status).toBe(404);
  });

  it('ends the pending task, and holds while Temporal is away', async () => {
    const taskId = await upload();
    gateway.workflows.state.away = true;
    expect((await gateway.call('DELETE', PATH, { token: ada.token })).status).toBe(204);
    expect(await gateway.adapters.tasks.get(taskId)).toMatchObject({
      state: 'CANCELLED',
      error: { code: 'TASK_CANCELLED' },
    });
    expect(await upload()).not.toBe(taskId);
  });
});
