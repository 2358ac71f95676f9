import { checkStores } from '../../activities/documents/clean-up/check-stores.js';
import type { Drift } from '../../activities/documents/clean-up/check-stores.js';
import { connectWorker } from '../../activities/connect.js';
import { ConfigError } from '../../schemas/config/config-error.js';
import { parseConfig } from '../../schemas/config/config.js';

/** Where the record store, the blobs and the chunks disagree. @throws ConfigError, AppError */
export async function compareStores(environment: Record<string, string>): Promise<Drift[]> {
  const config = parseConfig(environment);
  const adapters = await connectWorker(config);
  try {
    const { documents } = adapters;
    if (documents === null)
      throw new ConfigError('SERVICES leaves documents out: there is nothing to compare');
    return await checkStores(documents, {
      deduplicate: config.documents.deduplicate,
      keepUploads: config.documents.saveUploadedFiles,
    });
  } finally {
    await adapters.close();
  }
}
