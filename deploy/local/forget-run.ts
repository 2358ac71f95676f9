import { Client, Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { reconcileScheduleId, sweepForwardingScheduleId, sweepScheduleId } from '../../schemas/ids.js';
import type { ServiceAddresses } from './stack.js';

/**
 * Removes what a gateway and a worker made in shared services under names of their own: the database, the indices,
 * and the schedules, which would otherwise start workflows for nobody, for ever.
 */
export async function forgetRun(
  { mongodb, opensearch, temporal }: ServiceAddresses,
  names: { database: string; indexPrefix: string; queuePrefix: string },
): Promise<void> {
  const connection = await Connection.connect({ address: temporal });
  try {
    const client = new Client({ connection });
    for (const id of [sweepScheduleId, reconcileScheduleId, sweepForwardingScheduleId])
      await client.schedule.getHandle(id(names.queuePrefix)).delete().catch(notThere);
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

/** A worker that never came up has made no schedule. */
function notThere(error: unknown): void {
  if ((error as Error).name !== 'ScheduleNotFoundError') throw error;
}
