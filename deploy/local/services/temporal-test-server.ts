import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIntoCache } from '../build-into-cache.js';
import { downloadIntoCache } from '../download-into-cache.js';
import { findJava } from '../find-java.js';
import { findProgram } from '../find-program.js';
import { fetchArtifacts } from '../maven-artifacts.js';
import type { Obtainable, Program } from './service.js';

const VERSION = '1.38.0';
const DOWNLOADED = 'temporal-test-server';
const BUILT = `temporal-test-server-${VERSION}`;

/**
 * Temporal's time-skipping server. Only tests use it, and each starts its own: so there is an executable to obtain
 * and nothing to keep running.
 */
export const temporalTestServer: Obtainable = {
  name: 'temporal-test-server',
  variable: 'TEMPORAL_TEST_SERVER',

  async find() {
    const path = findProgram('temporal-test-server', process.env, ['/usr/local/bin', '/opt/homebrew/bin']);
    return path ? program(path) : null;
  },

  async kept({ paths }) {
    for (const name of [DOWNLOADED, BUILT]) {
      const path = join(paths.cache, name, 'temporal-test-server');
      if (existsSync(path)) return program(path);
    }
    return null;
  },

  async download(bench) {
    const folder = await downloadIntoCache(bench, 'temporal-test-server', DOWNLOADED, 'temporal-test-server');
    return folder ? program(join(folder, 'temporal-test-server')) : null;
  },

  async build(bench) {
    const java = await findJava(bench, 'temporal-test-server');
    const folder = await buildIntoCache(bench, BUILT, 'temporal-test-server', async (draft) => {
      bench.report.phase('temporal-test-server', 'putting it together from Maven artifacts', 15);
      await fetchArtifacts(bench, 'temporal-test-server', 'temporal-test-server.txt', draft);
      const script = join(draft, 'temporal-test-server');
      writeFileSync(script, wrapper(java));
      chmodSync(script, 0o755);
    });
    return program(join(folder, 'temporal-test-server'));
  },
};

function program(path: string): Program {
  return { path, kind: 'test-server', label: path };
}

/** The SDK starts one executable and waits 5 s for it: hence the options that make a JVM start sooner. */
function wrapper(java: string): string {
  return `#!/bin/sh
here=$(dirname "$0")
java='${java.replaceAll("'", `'\\''`)}'
[ -x "$java" ] || java=java
exec "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;
}
