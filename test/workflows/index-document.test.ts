import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { taskQueues } from '../../schemas/task-queues.js';
import type { TaskInput, TaskStatusView } from '../../workflows/documents/drive-task.js';
import type { indexDocument } from '../../workflows/documents/index-document.js';
import { documentRef, scriptedActivities, untilCancelled } from '../support/scripted-activities.js';
import type { AllActivities } from '../support/scripted-activities.js';
import { ended, until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

const DAY_MS = 24 * 3_600_000;
let env: TestWorkflowEnvironment;
let serial = 0;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

type Handle = WorkflowHandle<typeof indexDocument>;

/** Runs the plan on Temporal's test server with scripted hands. */
async function run<T>(
  script: Partial<AllActivities>,
  use: (handle: Handle, input: TaskInput) => Promise<T>,
  given: Partial<TaskInput> = {},
): Promise<{ result: T; names: string[]; calls: { name: string; args: unknown[] }[] }> {
  const prefix = `test-${(serial += 1)}-`;
  const scripted = scriptedActivities(script);
  const queues = taskQueues(prefix);
  const connection = env.nativeConnection;
  const documents = await Worker.create({
    connection,
    taskQueue: queues.documents,
    workflowBundle: await workflowBundle(),
    activities: scripted.activities,
    maxHeartbeatThrottleInterval: 100,
  });
  const models = await Worker.create({
    connection,
    taskQueue: queues.models,
    activities: scripted.activities,
    maxHeartbeatThrottleInterval: 100,
  });
  const input = { ...documentRef(prefix), prefix, timeoutMs: DAY_MS, ...given };
  const result = await documents.runUntil(
    models.runUntil(async () => {
      const handle = await env.client.workflow.start<typeof indexDocument>('indexDocument', {
        workflowId: `index-${prefix}`,
        taskQueue: queues.documents,
        args: [input],
      });
      return use(handle, input);
    }),
  );
  return { result, names: scripted.names(), calls: scripted.calls };
}

async function failureCode(handle: Handle): Promise<string> {
  const error = await handle.result().then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof WorkflowFailedError)) throw new Error('the workflow did not fail');
  return error.cause instanceof ApplicationFailure ? String(error.cause.type) : error.cause!.name;
}

function transient(code: string): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message: 'away', nonRetryable: false });
}

describe('indexDocument', () => {
  it('parses, embeds and publishes, in this order', async () => {
    const { result, names } = await run({}, (handle) => handle.result());
    expect(names).toEqual(['parseDocument', 'embedDocument', 'publishDocument']);
    expect(result).toMatchObject({ task_state: 'COMPLETED', stage: 'done', chunks: 3, error: null });
  });

  it('takes no further step where the one before has published', async () => {
    const published = { embedDocument: async () => ({ stored: 3, published: { replaced: false } }) };
    const { result, names, calls } = await run(published, (handle) => handle.result());
    expect(names).toEqual(['parseDocument', 'embedDocument']);
    expect(calls[1]?.args[1]).toEqual({ publish: true });
    expect(result).toMatchObject({ task_state: 'COMPLETED', stage: 'done', chunks: 3 });
  });

  it('takes no step at all where the first one went through', async () => {
    const published = { replaced: false };
    const through = { parseDocument: async () => ({ chunkCount: 2, stored: true, published }) };
    const { result, names, calls } = await run(through, (handle) => handle.result());
    expect(names).toEqual(['parseDocument']);
    expect(calls[0]?.args[1]).toEqual({ goOn: true });
    expect(result).toMatchObject({ task_state: 'COMPLETED', stage: 'done', chunks: 2 });
  });

  it('only publishes what the first step has stored', async () => {
    const stored = { parseDocument: async () => ({ chunkCount: 2, stored: true }) };
    const { names, calls } = await run(stored, (handle) => handle.result());
    expect(names).toEqual(['parseDocument', 'publishDocument']);
    expect(calls[1]?.args[1]).toBe(2);
  });

  it('has a model say something of the document where that is wanted', async () => {
    const wanted = { parseDocument: async () => ({ chunkCount: 3, enrich: true as const }) };
    const { names } = await run(wanted, (handle) => handle.result());
    expect(names).toEqual(['parseDocument', 'enrichDocument', 'embedDocument', 'publishDocument']);
  });

  it('ends FAILED with the code of a failure that cannot be retried, and cleans up', async () => {
    const { result, names, calls } = await run(
      {
        parseDocument: async () => {
          throw ApplicationFailure.create({
            type: 'FILE_ENCRYPTED',
            message: 'protected',
            nonRetryable: true,
          });
        },
      },
      failureCode,
    );
    expect(result).toBe('FILE_ENCRYPTED');
    expect(names).toEqual(['parseDocument', 'endTask', 'cleanFile']);
    expect(calls[1]?.args[1]).toMatchObject({ code: 'FILE_ENCRYPTED', message: 'protected' });
  });

  it('outlasts hours of an engine being away', async () => {
    const from = await env.currentTimeMs();
    const { result, names } = await run(
      {
        embedDocument: async () => {
          if ((await env.currentTimeMs()) - from < 5 * 3_600_000) throw transient('VDB_CONNECTION_ERROR');
          return { stored: 3 };
        },
      },
      (handle) => handle.result(),
    );
    expect(result.task_state).toBe('COMPLETED');
    expect(names.filter((name) => name === 'embedDocument').length).toBeGreaterThan(100);
  }, 60_000);

  it('ends FAILED with TASK_EXPIRED after the time allowed', async () => {
    const { result, names } = await run(
      {
        embedDocument: async () => {
          throw transient('VDB_CONNECTION_ERROR');
        },
      },
      failureCode,
    );
    expect(result).toBe('TASK_EXPIRED');
    expect(names.slice(-2)).toEqual(['endTask', 'cleanFile']);
  }, 120_000);

  it('stops a running activity when cancelled, then cleans up', async () => {
    let stopped = false;
    const { result, names, calls } = await run(
      {
        parseDocument: () =>
          untilCancelled().finally(() => {
            stopped = true;
          }),
      },
      async (handle) => {
        await until(
          'parsing',
          async () => (await handle.query<TaskStatusView>('taskStatus')).stage === 'parse',
        );
        await handle.cancel();
        return failureCode(handle);
      },
    );
    expect(result).toBe('CancelledFailure');
    expect(stopped).toBe(true);
    expect(names).toEqual(['parseDocument', 'endTask', 'cleanFile']);
    expect(calls[1]?.args[1]).toMatchObject({ code: 'TASK_CANCELLED' });
  });

  it('ends as cancelled when another upload has taken the file', async () => {
    const { result, calls } = await run(
      {
        publishDocument: async () => {
          throw ApplicationFailure.create({ type: 'SUPERSEDED', message: 'newer', nonRetryable: true });
        },
      },
      failureCode,
    );
    expect(result).toBe('CancelledFailure');
    expect(calls.find((call) => call.name === 'endTask')?.args[1]).toMatchObject({ code: 'SUPERSEDED' });
  });

  it('answers the taskStatus query after its end', async () => {
    const { result } = await run({}, async (handle) => {
      await handle.result();
      return handle.query<TaskStatusView>('taskStatus');
    });
    expect(result).toMatchObject({ task_state: 'COMPLETED', stage: 'done' });
  });

  describe('of a small text', () => {
    const small = { small: true };
    const published = { chunkCount: 2, stored: true, published: { replaced: false } };

    it('is over in the first task of its plan', async () => {
      const { result, names } = await run(
        { parseDocument: async () => published },
        async (handle) => {
          const view = await handle.result();
          const { events } = await handle.fetchHistory();
          return { view, tasks: events?.filter((event) => event.workflowTaskStartedEventAttributes) };
        },
        small,
      );
      expect(names).toEqual(['parseDocument']);
      expect(result.view).toMatchObject({ task_state: 'COMPLETED', stage: 'done', chunks: 2 });
      expect(result.tasks).toHaveLength(1);
    });

    it('is tried again as a step of its own, for as long as that takes', async () => {
      let tries = 0;
      const { names, calls } = await run(
        {
          parseDocument: async () => {
            if ((tries += 1) < 5) throw transient('INTERNAL_DB_ERROR');
            return published;
          },
        },
        (handle) => handle.result(),
        small,
      );
      expect(names).toEqual(Array.from({ length: 5 }, () => 'parseDocument'));
      expect(calls.map(({ args }) => args[1])).toEqual(Array.from({ length: 5 }, () => ({ goOn: true })));
    });

    it('takes the steps that are left', async () => {
      const { names } = await run({}, (handle) => handle.result(), small);
      expect(names).toEqual(['parseDocument', 'embedDocument', 'publishDocument']);
    });

    it('is not tried again after a failure that cannot be retried', async () => {
      const { result, names } = await run(
        {
          parseDocument: async () => {
            throw ApplicationFailure.nonRetryable('broken', 'FILE_CORRUPT');
          },
        },
        failureCode,
        small,
      );
      expect(result).toBe('FILE_CORRUPT');
      expect(names).toEqual(['parseDocument', 'endTask', 'cleanFile']);
    });

    it('is stopped by a cancel, and cleaned up after', async () => {
      let begun = false;
      let stopped = false;
      const { result, names, calls } = await run(
        {
          parseDocument: () => {
            begun = true;
            return untilCancelled().finally(() => {
              stopped = true;
            });
          },
        },
        async (handle) => {
          await until('it is read', async () => begun);
          await handle.cancel();
          return failureCode(handle);
        },
        small,
      );
      expect(result).toBe('CancelledFailure');
      expect(stopped).toBe(true);
      expect(names).toEqual(['parseDocument', 'endTask', 'cleanFile']);
      expect(calls[1]?.args[1]).toMatchObject({ code: 'TASK_CANCELLED' });
    }, 60_000);
  });

  // Last: after an abandoned child the test server's clock stood still for the tests that followed.
  it.each<[string, Partial<AllActivities>]>([
    ['publishing', { publishDocument: async () => ({ replaced: true }) }],
    ['embedding', { embedDocument: async () => ({ stored: 3, published: { replaced: true } }) }],
  ])('cleans up in a workflow of its own after a replacement by %s', async (_step, script) => {
    const { names, calls } = await run(script, async (handle, input) => {
      await handle.result();
      await ended(env.client, `${input.prefix}clean-document/${input.fileKey}/7`);
    });
    expect(names).toContain('cleanFile');
    expect(calls.find((call) => call.name === 'cleanFile')?.args[0]).toMatch(/^file-/);
  });
});

describe('indexDocument of a mail', () => {
  // One of its own: the test server skips no time for later tests once a child was left by the workflow that began it.
  let shared: TestWorkflowEnvironment;
  beforeAll(async () => {
    shared = env;
    env = await timeSkippingEnvironment();
  }, 60_000);
  afterAll(async () => {
    await env.teardown();
    env = shared;
  });

  it('has the attachments of a mail started, whose tasks it does not wait for', async () => {
    const read = { chunkCount: 2, stored: true, published: { replaced: false }, attached: true as const };
    const turns = async (): Promise<number> => {
      const { names } = await run({ parseDocument: async () => read }, async (handle) => {
        await handle.result();
        const dispatcher = env.client.workflow.getHandle(`test-${serial}-dispatch-documents`);
        await dispatcher.result();
      });
      return names.filter((name) => name === 'nextTurns').length;
    };
    expect(await turns()).toBe(1);
  });
});
