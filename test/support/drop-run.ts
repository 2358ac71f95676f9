import { connectMongo } from '../../activities/stores/mongo/connect-mongo.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import type { Config } from '../../schemas/config/config.js';

/** Removes the database and the indices of a test run. */
export async function dropRun({
  mongodb,
  opensearch,
}: Pick<Config, 'mongodb' | 'opensearch'>): Promise<void> {
  const records = await connectMongo(mongodb);
  try {
    await records.db.dropDatabase();
  } finally {
    await records.close();
  }
  const engine = connectOpenSearch(opensearch);
  try {
    // With a pattern, gone already is no error: a client repeats a deletion that a busy engine answered too late.
    await engine.client.request('DELETE', `/${opensearch.indexPrefix}*`);
  } finally {
    await engine.close();
  }
}
