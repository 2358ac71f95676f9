import { describe, expect, it } from '@jest/globals';
import { taskEvents } from '../../../../api/documents/tasks/task-events.js';
import type { TaskStatus } from '../../../../schemas/documents/documents-api.js';
import type { TaskRecord } from '../../../../schemas/documents/tasks.js';

const running = { task_id: 't', state: 'QUEUED' } as TaskRecord;

function present({ state }: TaskRecord) {
  return { task_state: state } as TaskStatus;
}

/** What a stream says of a task that stays as it is while it is read so many times. */
async function said(reads: number, heartbeatMs: number): Promise<string[]> {
  const leaving = new AbortController();
  let left = reads;
  const read = async (): Promise<TaskRecord> => {
    left -= 1;
    if (left === 0) leaving.abort();
    return running;
  };
  const texts: string[] = [];
  for await (const text of taskEvents(running, read, present, { signal: leaving.signal, heartbeatMs }))
    texts.push(text);
  return texts;
}

describe('the events of a task that does not change', () => {
  const status = 'event: status\ndata: {"task_state":"QUEUED"}\n\n';

  it('are a comment after each silence of the configured length', async () => {
    expect(await said(7, 1000)).toEqual([status, ': still there\n\n']);
  });

  it('are none where comments are switched off', async () => {
    expect(await said(7, 0)).toEqual([status]);
  });
});
