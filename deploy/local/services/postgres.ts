import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildIntoCache } from '../build-into-cache.js';
import { findDebianTools } from '../debian-packages.js';
import { LauncherError } from '../launcher-error.js';
import { buildPostgresHome, documentdbVersion, postgresHomeName, postgresPrograms } from './postgres-home.js';
import { launchPostgres, postgresAddress } from './postgres-launch.js';
import type { Program, Service } from './service.js';

/** PostgreSQL with the DocumentDB extension: where FerretDB keeps its documents. Reached by FerretDB alone. */
export const postgres: Service = {
  name: 'postgres',
  // With a server of MongoDB's protocol named, no PostgreSQL is needed.
  variable: 'MONGODB_URL',
  ports: [27018],

  /** The extension is so new that what a machine has installed is not looked at. */
  async find() {
    return null;
  },

  async kept({ paths }) {
    const home = join(paths.cache, postgresHomeName());
    return existsSync(home) ? program(home) : null;
  },

  async download() {
    return null;
  },

  async build(bench) {
    const tools = await findDebianTools();
    if (typeof tools === 'string') {
      throw new LauncherError(
        `postgres: it is put together from Debian's packages, and there is no ${tools}`,
        {
          advice: ['set MONGODB_URL to a server that runs already'],
        },
      );
    }
    const home = await buildIntoCache(bench, postgresHomeName(), 'postgres', (draft) =>
      buildPostgresHome(bench, tools, draft),
    );
    return program(home);
  },

  launch: launchPostgres,

  addresses([port]) {
    return { postgres: postgresAddress(port) };
  },

  /** Accepts connections; until a recovery is through it does not. */
  async ready({ paths }, address) {
    const ask = join(postgresPrograms(join(paths.cache, postgresHomeName())), 'pg_isready');
    await promisify(execFile)(ask, ['--quiet', '--timeout=2', `--dbname=${address}`], { timeout: 5000 });
    return true;
  },
};

function program(home: string): Program {
  return {
    path: home,
    kind: 'postgres',
    label: `PostgreSQL with DocumentDB ${documentdbVersion(home)} (${home})`,
  };
}
