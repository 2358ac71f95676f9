import { openApps } from '../apps.js';
import { runDemo } from '../demo.js';
import { endpointsOf } from '../endpoints.js';
import { keptBuild } from '../kept-build.js';
import { keptConsole } from '../kept-console.js';
import { LauncherError } from '../launcher-error.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

/**
 * As `start`, then the main jobs shown on the samples. `--exit`: stop afterwards, the exit code tells how it went.
 * `--ollama`: as with `start`.
 */
export async function demo(bench: Workbench, args: readonly string[]): Promise<number> {
  const { report } = bench;
  const stack = new Stack(bench);
  const other = await stack.enter('demo');
  if (other) {
    report.say(
      `Tamis runs already (npm run ${other.command}, process ${other.pid}): the demo uses that one.`,
    );
    return (await show(bench, bench.signal)) ? 0 : 1;
  }
  try {
    const [services, build, console] = await Promise.all([
      stack.openServices({
        supervise: true,
        also: ['redis', 'ollama'],
        demanded: args.includes('--ollama') ? ['ollama'] : [],
      }),
      stack.prepare(keptBuild),
      stack.prepare(keptConsole),
    ]);
    await openApps(bench, stack, services, build, { console });
    const worked = await show(bench, stack.signal);
    if (args.includes('--exit')) return worked ? 0 : 1;
    report.say('\nEverything stays up until Ctrl-C.');
    await stack.untilStopped();
    report.say('\nStopping …');
    return worked ? 0 : 1;
  } finally {
    await stack.close({});
  }
}

async function show(bench: Workbench, signal: AbortSignal): Promise<boolean> {
  const endpoints = endpointsOf(bench.paths.local, bench.record.read());
  try {
    if (!endpoints.gateway)
      throw new LauncherError('the gateway is still starting', { advice: ['try again soon'] });
    await runDemo({
      gateway: endpoints.gateway,
      authToken: endpoints.auth_token,
      endpoints,
      quoting: endpoints.ollama === null && bench.settings['BASE_URL'] === undefined,
      samples: `${bench.paths.root}/deploy/samples`,
      print: (text) => bench.report.say(text),
      signal,
    });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    bench.report.say(
      `\n✗ The demo failed: ${error instanceof LauncherError ? error.explain() : String(error)}`,
    );
    return false;
  }
}
