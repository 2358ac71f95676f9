import { LauncherError } from './launcher-error.js';
import { pathsOf } from './paths.js';
import { readEnvironment } from '../../schemas/config/read-environment.js';
import { createReporter } from './reporter.js';
import { RunRecord } from './run-record.js';
import type { Workbench } from './workbench.js';

type Command = (bench: Workbench, args: readonly string[]) => Promise<number>;

/** Loaded when called: `check` needs no database driver, and `down` none of anything. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./commands/start.js')).start,
  demo: async () => (await import('./commands/demo.js')).demo,
  down: async () => (await import('./commands/down.js')).down,
  reset: async () => (await import('./commands/reset.js')).reset,
  test: async () => (await import('./commands/test-suites.js')).testShortSuites,
  'test:all': async () => (await import('./commands/test-suites.js')).testAllSuites,
  'test:scale': async () => (await import('./commands/test.js')).test('jest.scale.config.mjs'),
  'test:stores': async () => (await import('./commands/test-stores.js')).testStores,
  'test:crowdsec': async () => (await import('./commands/test-crowdsec.js')).testCrowdsec,
  'test:ollama': async () =>
    (await import('./commands/test.js')).test('jest.ollama.config.mjs', { demanded: ['ollama'] }),
  'test:clients': async () => (await import('./commands/test-clients.js')).testClients,
  'test:web': async () => (await import('./commands/test-web.js')).testWeb,
  'test:fuzz': async () => (await import('./commands/test-fuzz.js')).testFuzz,
  'test:alerts': async () => (await import('./commands/test-alerts.js')).testAlerts,
  'test:secured': async () => (await import('./commands/test-secured.js')).testSecured,
  'test:node24': async () => (await import('./commands/test-node24.js')).testNode24,
  check: async () => (await import('./commands/check.js')).check,
  'write:config': async () => (await import('./commands/write-config.js')).writeConfig,
  'check:stores': async () => (await import('./commands/check-stores.js')).checkStores,
  'check:deploy': async () => (await import('./commands/check-deploy.js')).checkDeploy,
  'check:docker': async () => (await import('./commands/check-docker.js')).checkDocker,
  'bench:proxy': async () => (await import('./commands/bench.js')).bench('test/bench/proxy.ts'),
  'bench:retrieval': async () => (await import('./commands/bench.js')).bench('test/bench/retrieval.ts'),
  'bench:search': async () => (await import('./commands/bench.js')).bench('test/bench/search.ts'),
  'bench:legs': async () => (await import('./commands/bench.js')).bench('test/bench/legs.ts'),
  'bench:metadata': async () => (await import('./commands/bench.js')).bench('test/bench/metadata.ts'),
  'bench:words': async () => (await import('./commands/bench.js')).bench('test/bench/words.ts'),
  'bench:index': async () => (await import('./commands/bench.js')).bench('test/bench/index.ts'),
  'bench:profile': async () => (await import('./commands/bench.js')).bench('test/bench/profile.ts'),
  'bench:peers': async () => (await import('./commands/bench-peers.js')).benchPeers,
  'bench:parse': async () => (await import('./commands/bench.js')).benchAlone('test/bench/parse.ts'),
  'bench:verification': async () =>
    (await import('./commands/bench.js')).benchAlone('test/bench/verification.ts'),
  'bench:web': async () => (await import('./commands/with-browser.js')).withBrowser('test/bench/web.ts'),
  'console:pictures': async () =>
    (await import('./commands/with-browser.js')).withBrowser('test/web/take-pictures.ts'),
  'bench:answers': async () => (await import('./commands/bench.js')).benchAlone('test/bench/answers.ts'),
  'bench:injections': async () =>
    (await import('./commands/bench.js')).bench('test/bench/injections.ts', { demanded: ['ollama'] }),
  'docs:session': async () => (await import('./commands/bench.js')).bench('test/record-session.ts'),
  'bench:migration': async () => (await import('./commands/bench.js')).bench('test/bench/migration.ts'),
  'bench:partitions': async () => (await import('./commands/bench.js')).bench('test/bench/partitions.ts'),
  'bench:scaling': async () => (await import('./commands/bench.js')).bench('test/bench/scaling.ts'),
  'bench:chat': async () => (await import('./commands/bench.js')).bench('test/bench/chat.ts'),
  services: async () => (await import('./commands/services.js')).services,
};

process.exit(await main(process.argv.slice(2)));

async function main([name = '', ...args]: readonly string[]): Promise<number> {
  const load = COMMANDS[name];
  if (!load) {
    console.error(`Unknown command "${name}". There are: ${Object.keys(COMMANDS).join(', ')}.`);
    return 2;
  }
  const stop = new AbortController();
  // npm and the terminal may each send it: more than one means no more than one
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort(new DOMException(`stopped by ${signal}`, 'AbortError')));
  }
  process.stdout.on('error', () => undefined); // a reader that left (`npm start | head`) must not kill the supervisor
  const paths = pathsOf(process.env);
  const settings = readEnvironment(process.env, paths.root);
  const record = new RunRecord(paths.local);
  const report = createReporter();
  try {
    return await (
      await load()
    )({ paths, settings, record, report, signal: stop.signal }, args);
  } catch (error) {
    if (stop.signal.aborted) return 130;
    report.close();
    console.error(error instanceof LauncherError ? `\n✗ ${error.explain()}` : error);
    return 1;
  } finally {
    report.close();
  }
}
