import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LauncherError } from '../launcher-error.js';
import { memorySetting } from '../memory-plan.js';
import type { Workbench } from '../workbench.js';
import { documentdbVersion, postgresPrograms } from './postgres-home.js';
import type { Launch, Program } from './service.js';
import { asUnprivileged } from './unprivileged.js';

const SCRIPT = fileURLToPath(new URL('run-postgres.sh', import.meta.url));

/** FerretDB's pool; a cursor that stays open takes its connection out of the pool, hence the room above it. */
export const POOL_CONNECTIONS = 20;
const MAX_CONNECTIONS = 100;

/**
 * fsync and synchronous_commit stay on: an answered write survives a kill. DocumentDB needs the first two lines; it
 * builds indexes in jobs of pg_cron, every two seconds, each of which would be a line of the log.
 */
const CONFIG = `shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb'
cron.database_name = 'postgres'
cron.use_background_workers = on
cron.log_run = off
cron.log_statement = off
max_worker_processes = 16
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = ${MAX_CONNECTIONS}
work_mem = 8MB
maintenance_work_mem = 64MB
max_parallel_workers_per_gather = 0
jit = off
# two writes of one new unique key may wait for each other, and are repeated: sooner than after the usual second
deadlock_timeout = 50ms
# what is read is in memory: with the default of 4, lookups by a unique index become scans
random_page_cost = 1.1
# what was loaded in bulk is scanned until it has been analyzed: looked after sooner than each minute
autovacuum_naptime = 10s
timezone = 'GMT'
log_timezone = 'GMT'
log_checkpoints = off
# errors are the client's to report, and their details may quote documents
log_min_error_statement = fatal
log_error_verbosity = terse
`;

/**
 * A client that logs in to PostgreSQL as its owner can run programs as the user that it runs as. So there is a
 * password, unlike with the other local engines. DocumentDB's own jobs log in as a role without such rights and without
 * password.
 */
const OWNER = 'tamis';
const ACCESS = `host postgres documentdb_bg_worker_role 127.0.0.1/32 trust
host postgres ${OWNER} 127.0.0.1/32 scram-sha-256
`;

/** PostgreSQL on data of this clone, which are made at the first start. */
export async function launchPostgres(
  bench: Workbench,
  program: Program,
  [port]: readonly number[],
): Promise<Launch> {
  if (!hasName()) {
    throw new LauncherError(
      `postgres: it does not run as user ${process.getuid?.()}, who has no name on this machine`,
      {
        advice: [
          'give this user an entry in /etc/passwd',
          'or set MONGODB_URL to a server that runs already',
        ],
      },
    );
  }
  const run = join(bench.paths.local, 'postgres');
  mkdirSync(run, { recursive: true });
  const script = join(run, 'run-postgres.sh');
  copyFileSync(SCRIPT, script);
  const access = join(run, 'pg_hba.conf');
  writeFileSync(access, ACCESS);
  const memory = memorySetting(bench.settings, 'postgresSharedBuffersMb');
  const settings = [
    `port = ${port}`,
    `shared_buffers = ${memory.megabytes}MB`,
    `hba_file = '${access.replaceAll("'", "''")}'`,
  ];
  writeFileSync(join(run, 'postgresql.conf'), `${CONFIG}${settings.join('\n')}\n`);
  const passwords = passwordFile(bench);
  if (!existsSync(passwords)) {
    const password = randomBytes(24).toString('base64url');
    writeFileSync(passwords, `*:*:*:${OWNER}:${password}\n`, { mode: 0o600 });
  }
  const args = [script, postgresPrograms(program.path), run, documentdbVersion(program.path)];
  const launch = { command: '/bin/sh', args, cwd: run, env: {} };
  const start = asUnprivileged('postgres', launch, run, [program.path, run]);
  return { ...start, readySeconds: 120, expectedSeconds: 5, memory };
}

/** A container may run as a number that no account has. */
function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

export function postgresAddress(port: number | undefined): string {
  return `postgres://${OWNER}@127.0.0.1:${port}/postgres`;
}

/** Only root and the user that PostgreSQL runs as can read it. */
export function readPostgresPassword(bench: Workbench): string {
  return readFileSync(passwordFile(bench), 'utf8').trim().split(':').at(-1) ?? '';
}

/** In the form in which PostgreSQL's own programs, and DocumentDB within the server, look it up. */
function passwordFile({ paths }: Workbench): string {
  return join(paths.local, 'postgres', 'pgpass');
}
