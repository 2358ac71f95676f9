import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIntoCache } from '../build-into-cache.js';
import { goProgress } from '../go-progress.js';
import { runTool } from '../run-tool.js';
import type { Workbench } from '../workbench.js';
import { POOL_CONNECTIONS, readPostgresPassword } from './postgres-launch.js';
import type { Launch, Program } from './service.js';

const MODULE = 'github.com/FerretDB/FerretDB/v2';
const VERSION = '2.7.0';
const BUILT = `ferretdb-${VERSION}`;

/** What an idle pool keeps, and for how long: a connection is a process whose memory grows with what it has seen. */
const POOL = {
  pool_min_conns: '2',
  pool_max_conns: String(POOL_CONNECTIONS),
  pool_max_conn_idle_time: '5m',
  pool_max_conn_lifetime: '30m',
};

/** Built earlier; null: not yet. */
export function keptFerretdb({ paths }: Workbench): Program | null {
  const path = join(paths.cache, BUILT, 'ferretdb');
  return existsSync(path) ? program(path) : null;
}

/** Builds the server from its Go module, which Go's checksum database vouches for. */
export async function buildFerretdb(bench: Workbench, go: string): Promise<Program> {
  const folder = await buildIntoCache(bench, BUILT, 'mongodb', async (draft) => {
    bench.report.phase('mongodb', `building FerretDB ${VERSION} with Go`, 120);
    await runTool(bench, {
      subject: 'mongodb',
      command: go,
      args: ['install', '-v', '-ldflags=-s -w', `${MODULE}/cmd/ferretdb@v${VERSION}`],
      // without cgo it needs no C compiler, and runs for a user that has no entry in the password file
      env: { GOBIN: draft, CGO_ENABLED: '0', GOWORK: 'off' },
      progress: goProgress,
      advice: [
        'Go could not build it: look at GOPROXY and GOFLAGS',
        'or install mongod 7 or newer, or set MONGODB_URL to a server that runs already',
      ],
    });
  });
  return program(join(folder, 'ferretdb'));
}

/** In front of PostgreSQL at `postgres`, without accounts of its own, as the other local engines. */
export function launchFerretdb(bench: Workbench, { path }: Program, port: number, postgres: string): Launch {
  const run = join(bench.paths.local, 'ferretdb');
  mkdirSync(run, { recursive: true });
  const url = new URL(postgres);
  url.password = readPostgresPassword(bench);
  for (const [name, value] of Object.entries(POOL)) url.searchParams.set(name, value);
  // In a file, since everyone on the machine can read the arguments of a process.
  const urlFile = join(run, 'postgresql-url');
  writeFileSync(urlFile, url.href, { mode: 0o600 });
  return {
    command: path,
    // Warnings name every client that closes its connection.
    args: [
      `--listen-addr=127.0.0.1:${port}`,
      `--postgresql-url-file=${urlFile}`,
      '--no-auth',
      '--telemetry=disable',
      '--debug-addr=-',
      `--state-dir=${run}`,
      '--log-level=error',
    ],
    cwd: run,
    env: { DO_NOT_TRACK: '1' },
    readySeconds: 120,
    expectedSeconds: 2,
  };
}

function program(path: string): Program {
  return { path, kind: 'ferretdb', label: `FerretDB ${VERSION} (${path})` };
}
