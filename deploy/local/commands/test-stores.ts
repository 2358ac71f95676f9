import { describeStoreServer } from '../describe-store-server.js';
import { LauncherError } from '../launcher-error.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

const SERVER_URL = /^mongodb(\+srv)?:\/\//;

/**
 * The contracts of the stores and the whole API suite on one server of MongoDB's protocol: the one whose URL is among
 * the arguments, else the launcher's own. The other arguments are those of `npm test`.
 */
export async function testStores(bench: Workbench, args: readonly string[]): Promise<number> {
  const urls = args.filter((arg) => SERVER_URL.test(arg));
  if (urls.length > 1) throw new LauncherError(`test:stores tests one server at a time, not ${urls.length}`);
  const [url] = urls;
  const settings = url === undefined ? bench.settings : { ...bench.settings, MONGODB_URL: url };
  let server = 'an unknown server';
  const run = test('jest.stores.config.mjs', {
    environment: {
      // so that the gateway of the API suite stands on the server too; otherwise its stores are in memory
      TAMIS_API_STORES: 'server',
      ...(url === undefined ? {} : { MONGODB_URL: url }),
    },
    async before(environment) {
      server = await describeStoreServer(environment['MONGODB_URL']);
      bench.report.say(`The stores are tested on ${server}.`);
    },
  });
  const code = await run(
    { ...bench, settings },
    args.filter((arg) => !SERVER_URL.test(arg)),
  );
  bench.report.say(`The stores were tested on ${server}: ${code === 0 ? 'all right' : 'failed'}.`);
  return code;
}
