import { Client, Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { scheduleIds } from '../../schemas/ids.js';
import { loopbackChannel } from '../../schemas/temporal-channel.js';
import type { ServiceAddresses } from './stack.js';

/**
 * Removes what a gateway and a worker made in shared services under names of their own: the database, the indices,
 * the schedules, which would start workflows without a worker, and the workflows that never end by themselves.
 */
export async function forgetRun(
  { mongodb, opensearch, temporal }: ServiceAddresses,
  names: { database: string; indexPrefix: string; queuePrefix: string },
): Promise<void> {
  const connection = await Connection.connect({ address: temporal, ...loopbackChannel(temporal) });
  try {
    const client = new Client({ connection });
    for (const id of scheduleIds(names.queuePrefix))
      await client.schedule.getHandle(id).delete().catch(notThere);
    const open = `WorkflowId STARTS_WITH "${names.queuePrefix}" AND ExecutionStatus = "Running"`;
    for await (const { workflowId } of client.workflow.list({ query: open }))
      await client.workflow.getHandle(workflowId).terminate('the run is over').catch(notThere);
  } finally {
    await connection.close();
  }
  const response = await fetch(new URL(`/${names.indexPrefix}*`, opensearch), { method: 'DELETE' });
  await response.arrayBuffer();
  const mongo = new MongoClient(mongodb);
  try {
    await mongo.db(names.database).dropDatabase();
  } finally {
    await mongo.close();
  }
}

/** A worker that never came up has made no schedule; a workflow may end by itself meanwhile. */
function notThere(error: unknown): void {
  const { name } = error as Error;
  if (name !== 'ScheduleNotFoundError' && name !== 'WorkflowNotFoundError') throw error;
}
