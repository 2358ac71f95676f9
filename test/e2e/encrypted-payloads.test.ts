import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Worker } from '@temporalio/worker';
import { temporalDataConverter } from '../../activities/temporal/data-converter.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bundleWorkflows } from '../../workers/workflow-bundle.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { quietRuntime } from '../support/workflow-environment.js';
import { until } from '../support/until.js';

/** What must not be seen in Temporal; the file's id is also that of workflows, which no codec reaches. */
const NAMES = {
  partition: 'plantedpartition',
  mark: 'plantedmetadata',
  title: 'plantedtitle',
  failure: 'plantedfailure',
};

/** Of the type `TaskQueueType`. */
const ACTIVITIES = 2;

let stack: RunningStack;
beforeAll(async () => {
  quietRuntime();
  stack = await openStack({
    SECRETS_KEY: randomBytes(32).toString('base64'),
    TEMPORAL_ENCRYPT_PAYLOADS: 'true',
    WORKER_TASK_QUEUES: 'documents,models',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(() => stack.close(), 60_000);

async function index(fileId: string, name: string, bytes: string): Promise<string> {
  const form = new FormData();
  form.append('metadata', JSON.stringify({ mark: NAMES.mark }));
  form.append('file', new Blob([bytes]), name);
  const path = `/indexer/partition/${NAMES.partition}/file/${fileId}`;
  const answer = await stack.request(path, { method: 'POST', body: form });
  const { task_status_url: url } = (await answer.json()) as { task_status_url: string };
  return until(
    'the task has ended',
    async () => {
      const { task_state: state } = (await (await stack.request(url)).json()) as { task_state: string };
      return ['COMPLETED', 'FAILED'].includes(state) && state;
    },
    { withinMs: 90_000 },
  );
}

/** The same with what stands in it as base64 as what that means. */
function decoded(json: string): string {
  return json.replace(/"([A-Za-z0-9+/]{8,}={0,2})"/g, (_all, base64: string) =>
    Buffer.from(base64, 'base64').toString('latin1'),
  );
}

test('an upload, a failed one and the upkeep show no names in Temporal, and replay', async () => {
  await stack.request(`/partition/${NAMES.partition}`, { method: 'POST' });
  expect(await index('one', `${NAMES.title}.md`, '# Minutes\n\nThe board met on Monday.')).toBe('COMPLETED');
  expect(await index('two', `${NAMES.failure}.pdf`, '%PDF-1.7\nplantedfailure is no document')).toBe(
    'FAILED',
  );
  const query = `WorkflowId STARTS_WITH "${stack.config.temporal.prefix}"`;
  const histories: { workflowId: string; history: Awaited<ReturnType<typeof fetchHistory>> }[] = [];
  const fetchHistory = (workflowId: string, runId: string) =>
    stack.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  await until('the list shows both runs', async () => {
    histories.length = 0;
    for await (const { workflowId, runId, raw } of stack.temporal.workflow.list({ query })) {
      expect(decoded(JSON.stringify([raw.memo, raw.searchAttributes]))).not.toContain('planted');
      histories.push({ workflowId, history: await fetchHistory(workflowId, runId) });
    }
    return histories.filter(({ workflowId }) => workflowId.includes('index-document/')).length === 2;
  });
  let encrypted = 0;
  for (const { workflowId, history } of histories) {
    const text = historyToJSON(history);
    const bytes = decoded(text);
    encrypted += bytes.split('binary/encrypted').length - 1;
    for (const name of Object.values(NAMES)) {
      const seen = [text, bytes].some((each) => each.includes(name));
      expect(`${workflowId}: ${name} ${seen ? 'is seen' : 'is hidden'}`).toBe(
        `${workflowId}: ${name} is hidden`,
      );
    }
  }
  expect(encrypted).toBeGreaterThan(20);
  const workflowBundle = await bundleWorkflows({
    logger: new DefaultLogger('ERROR'),
    encryptsFailures: true,
  });
  const dataConverter = temporalDataConverter(stack.config);
  for (const { workflowId, history } of histories.filter(({ workflowId: id }) =>
    id.includes('index-document/'),
  ))
    await Worker.runReplayHistory({ workflowBundle, dataConverter }, history, workflowId);
}, 240_000);

test('a worker serves the task queues that WORKER_TASK_QUEUES names, and no other', async () => {
  const { namespace, prefix } = stack.config.temporal;
  const pollers = async (queue: 'documents' | 'models' | 'migrations' | 'alerts'): Promise<number> => {
    const asked = {
      namespace,
      taskQueue: { name: taskQueues(prefix)[queue] },
      taskQueueType: ACTIVITIES as never,
    };
    return (await stack.temporal.workflowService.describeTaskQueue(asked)).pollers.length;
  };
  for (const queue of ['documents', 'models'] as const)
    await until(`${queue} is polled`, async () => (await pollers(queue)) > 0);
  for (const queue of ['migrations', 'alerts'] as const) expect(await pollers(queue)).toBe(0);
});
