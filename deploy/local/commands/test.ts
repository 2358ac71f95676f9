import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { runToEnd } from '../run-to-end.js';
import { temporalTestServer } from '../services/temporal-test-server.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

/**
 * Jest with the real services. Services that run are used and left; the others are started and stopped. Of our own
 * options `--keep` leaves them all running for the next time and `--no-services` starts none; the rest is jest's.
 */
export function test(config: string): (bench: Workbench, args: readonly string[]) => Promise<number> {
  return async (bench, args) => {
    const keep = args.includes('--keep');
    const jestArgs = args.filter((arg) => arg !== '--keep' && arg !== '--no-services');
    if (args.includes('--no-services')) return await jest(bench, config, jestArgs, {});
    const stack = new Stack(bench);
    await stack.enter('test');
    try {
      return await jest(bench, config, jestArgs, await openForTests(bench, stack));
    } finally {
      await stack.close({ leaveFound: true, leaveAll: keep });
    }
  };
}

async function openForTests(bench: Workbench, stack: Stack): Promise<Record<string, string>> {
  const given = bench.settings[temporalTestServer.variable];
  const [services, testServer] = await Promise.all([
    stack.openServices({ supervise: false }),
    given ?? stack.obtain(temporalTestServer),
  ]);
  return {
    MONGODB_URL: services.mongodb,
    OPENSEARCH_URL: services.opensearch,
    TEMPORAL_ADDRESS: services.temporal,
    TEMPORAL_TEST_SERVER: testServer,
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
