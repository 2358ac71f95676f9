import { appEnvironment } from '../app-environment.js';
import { LauncherError } from '../launcher-error.js';
import { runToEnd } from '../run-to-end.js';
import type { Workbench } from '../workbench.js';

/** Asks whether the stores agree; on the services that run in this clone, or that the environment names. */
export async function checkStores(bench: Workbench, args: readonly string[]): Promise<number> {
  const { addresses } = bench.record.read();
  const { settings, paths, signal } = bench;
  const mongodb = settings['MONGODB_URL'] ?? addresses.mongodb;
  const opensearch = settings['OPENSEARCH_URL'] ?? addresses.opensearch;
  const temporal = settings['TEMPORAL_ADDRESS'] ?? addresses.temporal;
  if (!mongodb || !opensearch || !temporal) {
    throw new LauncherError('check:stores: no services run in this clone', {
      advice: [
        'run `npm start` in another terminal, or set MONGODB_URL, OPENSEARCH_URL and TEMPORAL_ADDRESS',
      ],
    });
  }
  const env = appEnvironment(bench, { mongodb, opensearch, temporal });
  const script = ['--import', 'tsx', 'deploy/cli/check-stores.ts', ...args];
  return await runToEnd(process.execPath, script, { cwd: paths.root, env, signal });
}
