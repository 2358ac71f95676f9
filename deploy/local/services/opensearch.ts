import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildIntoCache } from '../build-into-cache.js';
import { findProgram } from '../find-program.js';
import { fetchArtifacts } from '../maven-artifacts.js';
import type { Workbench } from '../workbench.js';
import { finishOpenSearchHome } from './opensearch-home.js';
import { launchOpenSearch } from './opensearch-launch.js';
import type { Program, Service } from './service.js';

const VERSION = '2.19.1';
export const ASSEMBLED = `opensearch-${VERSION}`;

/** OpenSearch with its k-NN plugin (Lucene engine), a single node on loopback. */
export const opensearch: Service = {
  name: 'opensearch',
  variable: 'OPENSEARCH_URL',
  ports: [9200, 9300],

  async find() {
    const command = findProgram('opensearch', process.env, [
      '/usr/share/opensearch/bin',
      '/opt/opensearch/bin',
    ]);
    const homes = [process.env['OPENSEARCH_HOME'], command && dirname(dirname(realpathSync(command)))];
    return homes.map((home) => home && usableHome(home)).find(Boolean) || null;
  },

  async kept({ paths }) {
    const home = join(paths.cache, ASSEMBLED);
    return existsSync(home) ? assembled(home) : null;
  },

  /** Its makers offer archives of 900 MB and no downloader; the artifacts below are a tenth of that. */
  async download() {
    return null;
  },

  async build(bench) {
    return assembled(await assembleOpenSearch(bench, ASSEMBLED, ['opensearch.txt']));
  },

  launch: launchOpenSearch,

  addresses([http]) {
    return { opensearch: `http://127.0.0.1:${http}` };
  },

  async ready(_bench, address) {
    return (await ask('/_cluster/health?wait_for_status=yellow&timeout=1s', address)).ok;
  },

  /** An index that is broken is no reason to start the engine again. */
  async answers(_bench, address) {
    await ask('/', address);
    return true;
  },
};

/** A home of the artifacts of some lists, in the cache under a name. */
export function assembleOpenSearch(
  bench: Workbench,
  name: string,
  lists: readonly string[],
): Promise<string> {
  return buildIntoCache(bench, name, 'opensearch', async (draft) => {
    bench.report.phase('opensearch', `assembling ${VERSION} from Maven artifacts`, 30);
    for (const list of lists) await fetchArtifacts(bench, 'opensearch', list, draft);
    finishOpenSearchHome(draft, VERSION);
  });
}

async function ask(path: string, address: string): Promise<Response> {
  const url = new URL(path, address);
  const { username, password } = url;
  url.username = url.password = '';
  const authorization = `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
  const response = await fetch(url, {
    headers: username ? { authorization } : {},
    signal: AbortSignal.timeout(3000),
  });
  await response.arrayBuffer();
  return response;
}

function assembled(home: string): Program {
  return {
    path: home,
    kind: 'assembled',
    label: `OpenSearch ${VERSION} (${home})`,
  };
}

/** An installed OpenSearch 2 that has the k-NN plugin; we start it with a configuration and data of our own. */
function usableHome(home: string): Program | null {
  try {
    const jar = readdirSync(join(home, 'lib')).find((name) => /^opensearch-2\.\d+\.\d+\.jar$/.test(name));
    if (!jar || !existsSync(join(home, 'plugins/opensearch-knn'))) return null;
    return { path: home, kind: 'installed', label: `${jar.replace('.jar', '')} (${home})` };
  } catch {
    return null;
  }
}
