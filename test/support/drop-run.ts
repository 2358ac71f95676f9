import { connectMongo } from '../../activities/stores/mongo/connect-mongo.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { hasEngineType } from '../../activities/stores/opensearch/opensearch-errors.js';
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
    await engine.client.request('DELETE', `/${opensearch.indexPrefix}*`).catch((error: unknown) => {
      // Gone already when the client repeats a deletion that a busy engine answered too late.
      if (!hasEngineType(error, 'index_not_found_exception')) throw error;
    });
  } finally {
    await engine.close();
  }
}
