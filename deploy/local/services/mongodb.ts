import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { askProgram } from '../ask-program.js';
import { findDebianTools } from '../debian-packages.js';
import { downloadIntoCache } from '../download-into-cache.js';
import { findProgram } from '../find-program.js';
import { GO_NEEDED, lookForGo } from '../find-go.js';
import { LauncherError } from '../launcher-error.js';
import { obtain } from '../obtain.js';
import { buildFerretdb, keptFerretdb, launchFerretdb } from './ferretdb.js';
import { postgres } from './postgres.js';
import type { Workbench } from '../workbench.js';
import type { Program, Service } from './service.js';

const OLDEST_MONGOD = 7;
const DOWNLOADED = 'mongod';

/**
 * The one whose data this clone has. Where there is none yet a mongod where one can be had; otherwise FerretDB, which
 * speaks MongoDB's protocol, on PostgreSQL with DocumentDB: a store for production too.
 */
export const mongodb: Service = {
  name: 'mongodb',
  variable: 'MONGODB_URL',
  ports: [27017],

  async find(bench) {
    if (dataOf(bench) === 'ferretdb') return keptFerretdb(bench);
    const path = findProgram('mongod', process.env, [
      '/usr/local/bin',
      '/opt/homebrew/bin',
      '/opt/mongodb/bin',
    ]);
    return path ? await mongod(path) : null;
  },

  async kept(bench) {
    if (dataOf(bench) === 'ferretdb') return keptFerretdb(bench);
    const path = join(bench.paths.cache, DOWNLOADED, 'mongod');
    const found = existsSync(path) ? await mongod(path) : null;
    return found ?? (dataOf(bench) === 'mongod' ? null : keptFerretdb(bench));
  },

  async download(bench) {
    if (dataOf(bench) === 'ferretdb') return null;
    const folder = await downloadIntoCache(bench, 'mongod', DOWNLOADED, 'mongodb');
    return folder ? await mongod(join(folder, 'mongod')) : null;
  },

  /** What is missing is said before anything is fetched; then both parts are made side by side. */
  async build(bench) {
    if (dataOf(bench) === 'mongod') {
      throw new LauncherError(
        `mongodb: the records in ${mongodData(bench)} are a mongod’s, and none was found or could be downloaded; ` +
          'FerretDB would begin without them',
        {
          advice: [
            'install mongod 7 or newer, or set MONGODB_URL to a server that runs',
            'or begin without them: `npm run reset` deletes this clone’s data',
          ],
        },
      );
    }
    const [tools, go, kept] = await Promise.all([findDebianTools(), lookForGo(), postgres.kept(bench)]);
    const missing = [
      ...(kept === null && typeof tools === 'string' ? [tools] : []),
      ...(go === null ? [GO_NEEDED] : []),
    ];
    if (go === null || missing.length > 0) {
      throw new LauncherError(
        'mongodb: no server was found or could be downloaded; install mongod 7 or newer, or on x86-64 a Debian’s ' +
          `apt-get and dpkg-deb and ${GO_NEEDED} (missing: ${missing.join(', ')}), or set MONGODB_URL to a server ` +
          'that runs',
      );
    }
    const [ferretdb] = await Promise.all([buildFerretdb(bench, go), kept ?? obtain(bench, postgres)]);
    return ferretdb;
  },

  needs: ({ kind }) => (kind === 'ferretdb' ? postgres : null),

  async launch(bench, program, [port = 0], needed) {
    if (program.kind === 'ferretdb') {
      if (needed === null) throw new Error('mongodb: FerretDB is nothing without PostgreSQL');
      return launchFerretdb(bench, program, port, needed);
    }
    const data = mongodData(bench);
    mkdirSync(data, { recursive: true });
    const args = ['--dbpath', data, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'];
    return { command: program.path, args, cwd: data, env: {}, readySeconds: 120, expectedSeconds: 3 };
  },

  addresses([port]) {
    return { mongodb: `mongodb://127.0.0.1:${port}` };
  },

  async ready(_bench, address) {
    const client = new MongoClient(address, { serverSelectionTimeoutMS: 2000 });
    try {
      await client.db('admin').command({ ping: 1 });
      return true;
    } finally {
      await client.close();
    }
  },
};

function mongodData({ paths }: Workbench): string {
  return join(paths.local, 'mongod');
}

/**
 * Which of the two wrote the records of this clone: the other one would begin with none, on the chunks in OpenSearch.
 * Null: none did, or both and it cannot be told which was the last; one that is found goes on with its own then.
 */
function dataOf(bench: Workbench): 'mongod' | 'ferretdb' | null {
  const ofMongod = existsSync(join(mongodData(bench), 'WiredTiger'));
  const ofFerretdb = existsSync(join(bench.paths.local, 'postgres', 'data'));
  if (ofMongod !== ofFerretdb) return ofMongod ? 'mongod' : 'ferretdb';
  // Of two the one that ran last: each writes such a file at every checkpoint.
  const byMongod = writtenAt(join(mongodData(bench), 'WiredTiger.turtle'));
  const byFerretdb = writtenAt(join(bench.paths.local, 'postgres', 'data', 'global', 'pg_control'));
  if (byMongod === byFerretdb) return null;
  return byMongod > byFerretdb ? 'mongod' : 'ferretdb';
}

function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Null when it does not run on this machine (an old processor, a missing library) or is too old. */
async function mongod(path: string): Promise<Program | null> {
  const version = /db version v((\d+)\.\S+)/.exec((await askProgram(path, ['--version'])) ?? '');
  if (!version || Number(version[2]) < OLDEST_MONGOD) return null;
  return { path, kind: 'mongod', label: `mongod ${version[1]} (${path})` };
}
