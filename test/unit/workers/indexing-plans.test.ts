import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { createIndexingPlans } from '../../../workers/indexing-plans.js';

const TASK = { file_key: 'file-key', generation: 7 };

/** A client to whom Temporal answers this; `asked` are the ids of the workflows. */
function clientOf(answer: string | Error) {
  const asked: string[] = [];
  const workflow = {
    getHandle(id: string) {
      asked.push(id);
      return {
        async describe() {
          if (answer instanceof Error) throw answer;
          return { status: { name: answer } };
        },
      };
    },
  };
  return { asked, client: { workflow } as unknown as Pick<Client, 'workflow'> };
}

describe('what Temporal says of the workflow of a task', () => {
  it.each([
    ['RUNNING', 'open'],
    ['PAUSED', 'open'],
    ['CONTINUED_AS_NEW', 'open'],
    ['UNKNOWN', 'open'],
    ['TERMINATED', 'closed'],
    ['TIMED_OUT', 'closed'],
    ['FAILED', 'closed'],
    ['CANCELLED', 'closed'],
    ['COMPLETED', 'closed'],
  ])('%s is %s', async (name, state) => {
    const { client, asked } = clientOf(name);
    expect(await createIndexingPlans(client, 'p-').stateOf(TASK)).toBe(state);
    expect(asked).toEqual([expect.stringMatching(/^p-.*file-key.*7$/)]);
  });

  it('is unknown where there is none, and nothing where Temporal is away', async () => {
    const missing = new WorkflowNotFoundError('workflow not found', 'id', undefined);
    expect(await createIndexingPlans(clientOf(missing).client, 'p-').stateOf(TASK)).toBe('unknown');
    const away = new Error('14 UNAVAILABLE');
    await expect(createIndexingPlans(clientOf(away).client, 'p-').stateOf(TASK)).rejects.toBe(away);
  });
});
