import { buildIntoCache } from './build-into-cache.js';
import { findGo } from './find-go.js';
import { fetchArtifacts } from './maven-artifacts.js';
import { obtain } from './obtain.js';
import { buildTemporal } from './services/build-temporal.js';
import { buildFerretdb, keptFerretdb } from './services/ferretdb.js';
import { finishOpenSearchHome } from './services/opensearch-home.js';
import { postgres } from './services/postgres.js';
import type { Workbench } from './workbench.js';

const OPENSEARCH = '2.19.1';
const TEMPORAL = { module: 'go.temporal.io/server/cmd/server', version: '1.29.1' };
/** As of the CLI: the module file names the SQLite driver of both. */
const TEMPORAL_BUILT = `temporal-server-${TEMPORAL.version}-sqlite-1.44.3`;

const ADVICE = ['test:secured needs it to build the servers that it tries accounts and certificates on'];

/**
 * The programs that `test:secured` starts with accounts and certificates, each with the variable that hands its path to
 * the tests. They are the same on every machine, whatever is installed there.
 */
export async function obtainSecuredEngines(bench: Workbench): Promise<Record<string, string>> {
  const ferretdb = keptFerretdb(bench) ?? (await buildFerretdb(bench, await findGo('mongodb', ADVICE)));
  return {
    SECURED_OPENSEARCH: await assembleOpenSearch(bench),
    SECURED_TEMPORAL: await buildServer(bench),
    SECURED_FERRETDB: ferretdb.path,
    SECURED_POSTGRES: (await obtain(bench, postgres)).path,
  };
}

/** OpenSearch with its security plugin, which the engine of the demo does without. */
function assembleOpenSearch(bench: Workbench): Promise<string> {
  return buildIntoCache(bench, `opensearch-${OPENSEARCH}-security`, 'opensearch', async (draft) => {
    bench.report.phase('opensearch', `assembling ${OPENSEARCH} with its security plugin`, 40);
    await fetchArtifacts(bench, 'opensearch', 'opensearch.txt', draft);
    await fetchArtifacts(bench, 'opensearch', 'opensearch-security.txt', draft);
    finishOpenSearchHome(draft, OPENSEARCH);
  });
}

/** Temporal's server itself: the development server of its CLI speaks no TLS and knows no accounts. */
function buildServer(bench: Workbench): Promise<string> {
  return buildTemporal(bench, {
    name: TEMPORAL_BUILT,
    file: 'temporal-server',
    module: TEMPORAL.module,
    what: `the server ${TEMPORAL.version}`,
    expectedSeconds: 120,
    advice: ADVICE,
  });
}
