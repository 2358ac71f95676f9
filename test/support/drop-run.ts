import { Client } from '@opensearch-project/opensearch';
import { MongoClient } from 'mongodb';
import type { Config } from '../../schemas/config/config.js';

/** Removes the database and the indices of a test run. */
export async function dropRun(config: Pick<Config, 'mongodb' | 'opensearch'>): Promise<void> {
  const mongo = new MongoClient(config.mongodb.url);
  try {
    await mongo.db(config.mongodb.database).dropDatabase();
  } finally {
    await mongo.close();
  }
  const opensearch = new Client({ node: config.opensearch.url });
  try {
    // Gone already when the client repeats a deletion that a busy engine answered too late.
    await opensearch.indices.delete({ index: `${config.opensearch.indexPrefix}*` }, { ignore: [404] });
  } finally {
    await opensearch.close();
  }
}
