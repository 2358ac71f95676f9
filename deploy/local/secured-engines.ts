import { findGo } from './find-go.js';
import { obtain } from './obtain.js';
import { DRIVER, buildTemporal } from './services/build-temporal.js';
import { buildFerretdb, keptFerretdb } from './services/ferretdb.js';
import { ASSEMBLED, assembleOpenSearch } from './services/opensearch.js';
import { postgres } from './services/postgres.js';
import type { Workbench } from './workbench.js';

const TEMPORAL = { module: 'go.temporal.io/server/cmd/server', version: '1.29.1' };
const TEMPORAL_BUILT = `temporal-server-${TEMPORAL.version}-${DRIVER}`;

const ADVICE = ['test:secured needs it to build the servers that it tries accounts and certificates on'];

/**
 * The programs that `test:secured` starts with accounts and certificates, each with the variable that hands its path to
 * the tests. They are the same on every machine, whatever is installed there.
 */
export async function obtainSecuredEngines(bench: Workbench): Promise<Record<string, string>> {
  const ferretdb = keptFerretdb(bench) ?? (await buildFerretdb(bench, await findGo('mongodb', ADVICE)));
  return {
    // With the plugin that the engine of the demo does without.
    SECURED_OPENSEARCH: await assembleOpenSearch(bench, `${ASSEMBLED}-security`, [
      'opensearch.txt',
      'opensearch-security.txt',
    ]),
    SECURED_TEMPORAL: await buildServer(bench),
    SECURED_FERRETDB: ferretdb.path,
    SECURED_POSTGRES: (await obtain(bench, postgres)).path,
  };
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
