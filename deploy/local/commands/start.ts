import { openApps } from '../apps.js';
import { LauncherError } from '../launcher-error.js';
import { keptBuild } from '../kept-build.js';
import { keptConsole } from '../kept-console.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

/**
 * Services, gateway and worker, until Ctrl-C. `--ollama`: obtains real models first, where there are none yet.
 * `--proxy` (or SERVICES=proxy): the proxy alone, without OpenSearch and models.
 */
export async function start(bench: Workbench, args: readonly string[]): Promise<number> {
  const proxyOnly = args.includes('--proxy') || bench.settings['SERVICES'] === 'proxy';
  if (proxyOnly && args.includes('--ollama'))
    throw new LauncherError('--ollama has no use with the proxy alone', {
      advice: ['leave one of them out'],
    });
  const { report } = bench;
  const stack = new Stack(bench);
  const other = await stack.enter('start');
  if (other) {
    const { gateway } = bench.record.read().addresses;
    const where = gateway ? `the gateway is at ${gateway}` : 'it is still starting';
    report.say(
      `Tamis runs already in this clone (npm run ${other.command}, process ${other.pid}): ${where}.`,
    );
    return 0;
  }
  try {
    const [services, build, console] = await Promise.all([
      proxyOnly
        ? stack.openProxyServices({ supervise: true, also: ['redis'] })
        : stack.openServices({
            supervise: true,
            also: ['redis', 'ollama'],
            demanded: args.includes('--ollama') ? ['ollama'] : [],
          }),
      stack.prepare(keptBuild),
      stack.prepare(keptConsole),
    ]);
    const { gateway, proxy } = await openApps(bench, stack, services, build, {
      proxyOnly,
      console,
    });
    report.say(`\nTamis is up: ${gateway}${proxyOnly ? ' (the proxy alone)' : ''}`);
    if (proxy !== gateway) report.say(`The proxy is at ${proxy}`);
    if (console !== null) report.say(`The console is at ${gateway}/app/: sign in with the token or a key`);
    report.say('Token, keys and all addresses are in .local/endpoints.json. Ctrl-C stops everything.');
    await stack.untilStopped();
    report.say('\nStopping …');
    return 0;
  } finally {
    await stack.close({});
  }
}
