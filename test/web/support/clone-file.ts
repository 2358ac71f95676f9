import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { documentClient } from '../../support/document-client.js';
import type { RunningStack } from '../../support/running-stack.js';

const BATCH = 2_000;

/** So many files that are clones of one that was indexed, with ids of their own; their list is read as any other. */
export async function cloneFile(stack: RunningStack, partition: string, count: number): Promise<void> {
  await stack.request(`/partition/${partition}`, { method: 'POST' });
  const documents = documentClient(stack);
  await documents.ended(await documents.upload('POST', partition, 'first', 'The tide is out.', 'first.md'));
  const client = new MongoClient(process.env['MONGODB_URL']!);
  const files = client.db(stack.config.mongodb.database).collection('files');
  const { _id, ...record } = (await files.findOne({ file_id: 'first' }))!;
  for (let from = 1; from < count; from += BATCH)
    await files.insertMany(
      Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => ({
        ...record,
        file_id: `log-${from + index}.md`,
        name_key: `${partition}/log-${from + index}.md`,
        file_key: randomUUID().replaceAll('-', ''),
      })),
    );
  await client.close();
}
