import { temporalTestServer } from '../services/temporal-test-server.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

/** Only the services, until Ctrl-C: for running tests or gateway and worker by hand, again and again. */
export async function services(bench: Workbench): Promise<number> {
  const stack = new Stack(bench);
  await stack.enter('services');
  try {
    const given = bench.settings[temporalTestServer.variable];
    const testServer = given ?? stack.obtain(temporalTestServer);
    const [addresses, path] = await Promise.all([
      stack.openServices({ supervise: true, also: ['redis', 'ollama'] }),
      testServer,
    ]);
    for (const [name, address] of Object.entries(addresses))
      bench.report.say(`  ${name.padEnd(22)} ${address}`);
    bench.report.say(`  ${'temporal-test-server'.padEnd(22)} ${path}`);
    bench.report.say('The services are up; Ctrl-C stops them.');
    await stack.untilStopped();
    return 0;
  } finally {
    await stack.close({});
  }
}
