/**
 * `npm run check:stores`: compares the record store, the blobs and the chunks, prints where they disagree, and
 * ends with 1 if they do. Meant for a quiet system: what is being indexed at this moment shows up too.
 */
import { checkStores } from '../../activities/documents/clean-up/check-stores.js';
import { connectWorker } from '../../activities/connect.js';
import { parseConfig } from '../../schemas/config/config.js';
import { readEnvironment } from '../../schemas/config/read-environment.js';

const config = parseConfig(readEnvironment(process.env));
const adapters = await connectWorker(config);
const { documents } = adapters;
try {
  if (documents === null) throw new Error('SERVICES leaves documents out: there is nothing to compare');
  const drifts = await checkStores(documents, {
    deduplicate: config.documents.deduplicate,
    keepUploads: config.documents.saveUploadedFiles,
  });
  for (const { kind, subject, detail } of drifts) console.log(`${kind}  ${subject}  ${detail}`);
  console.log(drifts.length === 0 ? 'The stores agree.' : `${drifts.length} disagreements.`);
  process.exitCode = drifts.length === 0 ? 0 : 1;
} finally {
  await adapters.close();
}
