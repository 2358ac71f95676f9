import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { connectTemporal } from '../../../api/temporal.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { evaluationWorkflowId } from '../../../schemas/ids.js';
import { sampleRun } from './evaluation-samples.js';

const prefix = `one-run-${process.pid}-${randomBytes(4).toString('hex')}-`;

/** No worker takes them, so that each runs until it is ended here. */
describe('a run that another one of its kind excludes', () => {
  let connection: Connection;
  let client: Client;
  let gateway: ReturnType<typeof connectTemporal>;
  const keys: string[] = [];

  const newKey = (): string => {
    const key = randomUUID();
    keys.push(key);
    return key;
  };
  const end = async (key: string): Promise<void> => {
    await client.workflow.getHandle(evaluationWorkflowId(prefix, key)).terminate('ended by its test');
  };

  beforeAll(async () => {
    connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS']! });
    client = new Client({ connection });
    gateway = connectTemporal(
      parseConfig({
        TASK_QUEUE_PREFIX: prefix,
        TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS']!,
        AUTH_TOKEN: randomBytes(16).toString('hex'),
      }),
    );
  });

  afterAll(async () => {
    for (const key of keys) await end(key).catch(() => undefined);
    await gateway.close();
    await connection.close();
  });

  it('is refused while it runs', async () => {
    const key = newKey();
    await gateway.startEvaluation(sampleRun({ partition_key: key }));
    await expect(gateway.startEvaluation(sampleRun({ partition_key: key }))).rejects.toMatchObject({
      code: 'EVALUATION_RUNNING',
    });
    await gateway.startEvaluation(sampleRun({ partition_key: newKey() }));
  });

  it('may follow one that ends in this moment', async () => {
    const key = newKey();
    await gateway.startEvaluation(sampleRun({ partition_key: key }));
    const next = sampleRun({ partition_key: key });
    const started = gateway.startEvaluation(next);
    await new Promise(setImmediate);
    await end(key);
    await started;
    const { memo } = await client.workflow.getHandle(evaluationWorkflowId(prefix, key)).describe();
    expect(memo).toMatchObject({ run_id: next.run_id });
  });

  it('is not cancelled in the name of one before it', async () => {
    const key = newKey();
    const [terminated, next] = [sampleRun({ partition_key: key }), sampleRun({ partition_key: key })];
    await gateway.startEvaluation(terminated);
    await end(key);
    expect(await gateway.cancelEvaluation(terminated)).toBe(false);
    await gateway.startEvaluation(next);
    expect(await gateway.cancelEvaluation(terminated)).toBe(false);
    const isCancelRequested = async (): Promise<boolean> => {
      const { events } = await client.workflow.getHandle(evaluationWorkflowId(prefix, key)).fetchHistory();
      return (events ?? []).some((event) => event.workflowExecutionCancelRequestedEventAttributes != null);
    };
    expect(await isCancelRequested()).toBe(false);
    expect(await gateway.cancelEvaluation(next)).toBe(true);
    expect(await isCancelRequested()).toBe(true);
  });
});
