/**
 * `npm run check:stores`: compares the record store, the blobs and the chunks, prints where they disagree, and
 * ends with 1 if they do. Meant for a quiet system: what is being indexed at this moment shows up too.
 */
import { ConfigError, EX_CONFIG } from '../../schemas/config/config-error.js';
import { readEnvironment } from '../../schemas/config/read-environment.js';
import { compareStores } from './compare-stores.js';

try {
  const drifts = await compareStores(readEnvironment(process.env));
  for (const { kind, subject, detail } of drifts) console.log(`${kind}  ${subject}  ${detail}`);
  console.log(drifts.length === 0 ? 'The stores agree.' : `${drifts.length} disagreements.`);
  process.exitCode = drifts.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = EX_CONFIG;
}
