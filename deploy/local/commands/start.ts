import { openApps } from '../apps.js';
import { keptBuild } from '../kept-build.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

/** Services, gateway and worker, until Ctrl-C. `--ollama`: obtains real models first, where there are none yet. */
export async function start(bench: Workbench, args: readonly string[]): Promise<number> {
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
    const [services, build] = await Promise.all([
      stack.openServices({
        supervise: true,
        also: ['redis', 'ollama'],
        demanded: args.includes('--ollama') ? ['ollama'] : [],
      }),
      stack.prepare(keptBuild),
    ]);
    const gateway = await openApps(bench, stack, services, build);
    report.say(`\nTamis is up: ${gateway}`);
    report.say('Token, keys and all addresses are in .local/endpoints.json. Ctrl-C stops everything.');
    await stack.untilStopped();
    report.say('\nStopping …');
    return 0;
  } finally {
    await stack.close({});
  }
}
