import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VECTOR_MODULE } from '../find-java.js';
import { memorySetting } from '../memory-plan.js';
import type { Workbench } from '../workbench.js';
import type { Launch, Program } from './service.js';
import { asUnprivileged } from './unprivileged.js';
import { findVectorJava } from './vector-java.js';

/**
 * It begins with no more than this, so that an idle one stays small on a large machine: it holds 370 MiB when it has
 * just started, 516 with a first heap of 512, and starts as fast.
 */
const FIRST_HEAP_MB = 128;

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
  const java = await findVectorJava(bench, 'opensearch');
  const memory = memorySetting(bench.settings, 'opensearchHeapMb');
  const args = [
    `-Xms${Math.min(FIRST_HEAP_MB, memory.megabytes)}m`,
    `-Xmx${memory.megabytes}m`,
    '-Xss1m',
    '-XX:+UseG1GC',
    '-XX:G1ReservePercent=25',
    '-Xshare:auto',
    ...(java.hasVectors ? [`--add-modules=${VECTOR_MODULE}`] : []),
    '-XX:InitiatingHeapOccupancyPercent=30',
    '-XX:-OmitStackTraceInFastThrow',
    '-XX:+ExitOnOutOfMemoryError',
    '-Djava.awt.headless=true',
    '-Dfile.encoding=UTF-8',
    '-Djna.nosys=true',
    '-Djava.security.manager=allow',
    '-Djava.locale.providers=SPI,COMPAT',
    '-Dopensearch.networkaddress.cache.ttl=60',
    '-Dopensearch.networkaddress.cache.negative.ttl=10',
    '-Dio.netty.noUnsafe=true',
    '-Dio.netty.noKeySetOptimization=true',
    '-Dio.netty.recycler.maxCapacityPerThread=0',
    '-Dio.netty.allocator.numDirectArenas=0',
    '-Dlog4j.shutdownHookEnabled=false',
    '-Dlog4j2.disable.jmx=true',
    '-Dlog4j2.formatMsgNoLookups=true',
    `-Djava.io.tmpdir=${folders.tmp}`,
    `-Dopensearch.path.home=${home}`,
    `-Dopensearch.path.conf=${folders.config}`,
    '-Dopensearch.distribution.type=tar',
    '-Dopensearch.bundled_jdk=false',
    '-cp',
    jars.map((jar) => join(home, 'lib', jar)).join(':'),
    'org.opensearch.bootstrap.OpenSearch',
    `-Ehttp.port=${http}`,
    `-Etransport.port=${transport}`,
    `-Epath.data=${folders.data}`,
    `-Epath.logs=${folders.logs}`,
    `-Epath.repo=${folders.repo}`,
  ];
  const launch = { command: java.path, args, cwd: run, env: { HOME: run } };
  const start = asUnprivileged('opensearch', launch, run, [home, run]);
  return { ...start, readySeconds: 240, expectedSeconds: 20, memory };
}
