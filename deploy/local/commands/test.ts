import { randomBytes } from 'node:crypto';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { modelEnvironment } from '../app-environment.js';
import { keptBuild } from '../kept-build.js';
import { runToEnd } from '../run-to-end.js';
import { temporalTestServer } from '../services/temporal-test-server.js';
import type { OptionalName } from '../services/service.js';
import { OPTIONAL, Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

const OWN_OPTIONS = new Set(['--keep', '--no-services', '--if-at-hand']);
/** Tests that start neither gateway nor worker as a process. */
const WITHIN_JEST = /^test\/(?:unit|contracts|api|workflows|zoo)\b/;

/**
 * Jest with the real services. Services that run are used and left; the others are started and stopped. Of our own
 * options `--keep` leaves them all running for the next time, `--no-services` starts none, and `--if-at-hand` runs
 * nothing where a demanded service would have to be obtained first; the rest is jest's.
 */
export function test(
  config: string,
  options: {
    demanded?: readonly OptionalName[];
    /** False: no test runs a workflow in Temporal's test server, which is not obtained then. */
    testServer?: boolean;
    /** More variables for jest. */
    environment?: Readonly<Record<string, string>>;
    /** Variables of what the tests can do without; asked for when the whole suite runs, or a file that it names. */
    optional?: { files: string; obtain: (bench: Workbench) => Promise<Record<string, string>> };
    /** Patterns of suites that run only where the caller chooses suites. */
    long?: readonly string[];
    /** Done with the variables of jest before it begins. */
    before?: (environment: NodeJS.ProcessEnv) => Promise<void>;
  } = {},
): (bench: Workbench, args: readonly string[]) => Promise<number> {
  const { demanded = [], testServer = true, environment = {}, optional, long = [], before } = options;
  return async (bench, args) => {
    const keep = args.includes('--keep');
    const jestArgs = args.filter((arg) => !OWN_OPTIONS.has(arg));
    if (args.includes('--if-at-hand') && !(await areAtHand(bench, demanded))) {
      bench.report.say(`Not run: ${demanded.join(', ')} would have to be obtained first.`);
      return 0;
    }
    const run = async (services: Record<string, string>): Promise<number> => {
      const leavesOut = long.length > 0 && !jestArgs.some(choosesSuites);
      if (leavesOut) bench.report.say('Without the long suites, which `npm run test:all` runs as well.');
      const wanted =
        (!leavesOut && jestArgs.every((arg) => arg.startsWith('-'))) ||
        jestArgs.some((arg) => optional !== undefined && arg.includes(optional.files));
      const more = wanted ? await optional?.obtain(bench) : undefined;
      const named = jestArgs.filter((arg) => !arg.startsWith('-'));
      const startsProcesses = named.length === 0 || !named.every((arg) => WITHIN_JEST.test(arg));
      const build = startsProcesses ? { TAMIS_TEST_BUILD: await keptBuild(bench, 'test-build') } : {};
      const variables = { ...services, ...environment, ...more, ...build };
      await before?.({ ...process.env, ...variables });
      const chosen = leavesOut ? [...jestArgs, `--testPathIgnorePatterns=${long.join('|')}`] : jestArgs;
      return await jest(bench, config, chosen, variables);
    };
    if (args.includes('--no-services')) return await run({});
    const stack = new Stack(bench);
    await stack.enter('test');
    try {
      return await run(await openForTests(bench, stack, { demanded, testServer }));
    } finally {
      await stack.close({ leaveFound: true, leaveAll: keep });
    }
  };
}

/** Whether an argument of jest says which suites are to run. */
function choosesSuites(arg: string): boolean {
  return !arg.startsWith('-') || /^--testPath(?:Ignore)?Patterns\b/.test(arg);
}

/** Named by the environment, on this machine, or kept from an earlier run. */
async function areAtHand(bench: Workbench, names: readonly OptionalName[]): Promise<boolean> {
  const found = await Promise.all(
    names.map(async (name) => {
      const service = OPTIONAL[name];
      return bench.settings[service.variable] ?? (await service.find(bench)) ?? (await service.kept(bench));
    }),
  );
  return found.every(Boolean);
}

async function openForTests(
  bench: Workbench,
  stack: Stack,
  { demanded, testServer }: { demanded: readonly OptionalName[]; testServer: boolean },
): Promise<Record<string, string>> {
  const given = bench.settings[temporalTestServer.variable];
  const [services, testServerPath] = await Promise.all([
    // tests of what a lost Redis does start their own: this one is opened so that the program is there
    stack.openServices({ supervise: false, also: ['redis'], demanded }),
    testServer ? (given ?? stack.obtain(temporalTestServer)) : null,
  ]);
  return {
    MONGODB_URL: services.mongodb,
    OPENSEARCH_URL: services.opensearch,
    TEMPORAL_ADDRESS: services.temporal,
    ...(testServerPath !== null && { TEMPORAL_TEST_SERVER: testServerPath }),
    ...modelEnvironment(services, bench.settings),
  };
}

async function jest(
  bench: Workbench,
  config: string,
  args: readonly string[],
  services: Record<string, string>,
): Promise<number> {
  const { root } = bench.paths;
  const env = {
    ...process.env,
    ...services,
    // what a developer's .env says must not decide what tests find
    TAMIS_ENV_FILE: devNull,
    // names what a run makes in the shared services (database, indices, task queues), so that runs do not meet
    TAMIS_RUN_ID: `t${Date.now().toString(36)}${randomBytes(2).toString('hex')}`,
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules`.trim(),
  };
  const script = join(root, 'node_modules/jest/bin/jest.js');
  return await runToEnd(process.execPath, [script, '--config', config, ...args], {
    cwd: root,
    env,
    signal: bench.signal,
  });
}
