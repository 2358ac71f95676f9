import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findJava } from '../find-java.js';
import { findProgram } from '../find-program.js';
import { LauncherError } from '../launcher-error.js';
import { openToAll } from '../open-to-all.js';
import type { Workbench } from '../workbench.js';
import type { Launch, Program } from './service.js';

/** "nobody": needs no account to be made. */
const UNPRIVILEGED = 65534;

const CONFIG = `cluster.name: tamis-local
node.name: local
discovery.type: single-node
network.host: 127.0.0.1
cluster.routing.allocation.disk.threshold_enabled: false
action.auto_create_index: false
bootstrap.memory_lock: false
bootstrap.system_call_filter: false
`;

const LOGGING = `status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
`;

/** The command that `bin/opensearch` would end in, with a configuration and data of this clone. */
export async function launchOpenSearch(
  bench: Workbench,
  program: Program,
  [http, transport]: readonly number[],
): Promise<Launch> {
  const home = program.path;
  const run = join(bench.paths.local, 'opensearch');
  const folders = Object.fromEntries(
    ['config', 'data', 'logs', 'repo', 'tmp'].map((name) => [name, join(run, name)]),
  ) as Record<'config' | 'data' | 'logs' | 'repo' | 'tmp', string>;
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  const security = existsSync(join(home, 'plugins/opensearch-security'))
    ? 'plugins.security.disabled: true\n'
    : '';
  writeFileSync(join(folders.config, 'opensearch.yml'), CONFIG + security);
  writeFileSync(join(folders.config, 'log4j2.properties'), LOGGING);
  writeFileSync(join(folders.config, 'jvm.options'), '');

  // in a fixed order, so that nothing depends on how the file system lists them
  const jars = readdirSync(join(home, 'lib'))
    .filter((name) => name.endsWith('.jar'))
    .sort();
  const java = await findJava(bench, 'opensearch');
  const args = [
    ...['-Xms512m', '-Xmx512m', '-Xss1m', '-XX:+UseG1GC', '-XX:G1ReservePercent=25', '-Xshare:auto'],
    ...[
      '-XX:InitiatingHeapOccupancyPercent=30',
      '-XX:-OmitStackTraceInFastThrow',
      '-XX:+ExitOnOutOfMemoryError',
    ],
    ...[
      '-Djava.awt.headless=true',
      '-Dfile.encoding=UTF-8',
      '-Djna.nosys=true',
      '-Djava.security.manager=allow',
    ],
    ...['-Djava.locale.providers=SPI,COMPAT', '-Dopensearch.networkaddress.cache.ttl=60'],
    ...['-Dopensearch.networkaddress.cache.negative.ttl=10', '-Dio.netty.noUnsafe=true'],
    ...['-Dio.netty.noKeySetOptimization=true', '-Dio.netty.recycler.maxCapacityPerThread=0'],
    ...[
      '-Dio.netty.allocator.numDirectArenas=0',
      '-Dlog4j.shutdownHookEnabled=false',
      '-Dlog4j2.disable.jmx=true',
    ],
    ...[
      '-Dlog4j2.formatMsgNoLookups=true',
      `-Djava.io.tmpdir=${folders.tmp}`,
      `-Dopensearch.path.home=${home}`,
    ],
    ...[`-Dopensearch.path.conf=${folders.config}`, '-Dopensearch.distribution.type=tar'],
    ...['-Dopensearch.bundled_jdk=false', '-cp', jars.map((jar) => join(home, 'lib', jar)).join(':')],
    ...['org.opensearch.bootstrap.OpenSearch', `-Ehttp.port=${http}`, `-Etransport.port=${transport}`],
    ...[`-Epath.data=${folders.data}`, `-Epath.logs=${folders.logs}`, `-Epath.repo=${folders.repo}`],
  ];
  const launch = { command: java, args, cwd: run, env: { HOME: run } };
  return { ...asSomeoneElse(launch, run, [home, run]), readySeconds: 240, expectedSeconds: 20 };
}

type Start = Pick<Launch, 'command' | 'args' | 'cwd' | 'env' | 'uid'>;

/**
 * OpenSearch refuses to run as root, so then it runs as nobody. Where a folder above it is closed to others (a clone
 * or a cache under /root), nobody is lent the one capability to read past it, and still writes only what is its own.
 */
function asSomeoneElse(start: Start, run: string, needed: readonly string[]): Start {
  if (process.getuid?.() !== 0) return start;
  giveAway(run);
  if (needed.every(openToAll)) return { ...start, uid: UNPRIVILEGED };
  const setpriv = findProgram('setpriv', process.env, ['/usr/bin']);
  if (!setpriv) {
    throw new LauncherError(
      `opensearch: it must not run as root, and others cannot reach ${needed.join(' or ')}`,
      {
        advice: [
          'run as a user other than root',
          'or install setpriv (util-linux)',
          'or move the clone to a place open to others, and set XDG_CACHE_HOME to such a place',
        ],
      },
    );
  }
  const identity = [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups', '--no-new-privs'];
  const capability = ['--inh-caps', '--ambient-caps', '--bounding-set'].map(
    (set) => `${set}=-all,+dac_read_search`,
  );
  // without this the JVM's access(2) checks would still be made as if it had no capability
  const access = '--securebits=+no_setuid_fixup,+no_setuid_fixup_locked';
  return {
    ...start,
    command: setpriv,
    args: [...identity, ...capability, access, start.command, ...start.args],
  };
}

function giveAway(path: string): void {
  chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) giveAway(inner);
    else chownSync(inner, UNPRIVILEGED, UNPRIVILEGED);
  }
}
