import { modelEnvironment } from '../app-environment.js';
import { keptBuild } from '../kept-build.js';
import { runToEnd } from '../run-to-end.js';
import type { OptionalName } from '../services/service.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

/**
 * A script of test/bench with the real services; what it measures it writes under test/bench/results.
 * @param options.demanded services that it cannot do without, obtained first where they are missing
 * @param options.obtain what else it needs, as variables
 */
export function bench(
  script: string,
  options: {
    demanded?: readonly OptionalName[];
    obtain?: (bench: Workbench) => Promise<Record<string, string>>;
  } = {},
): (bench: Workbench, args: readonly string[]) => Promise<number> {
  const { demanded = [], obtain } = options;
  return async (workbench, args) => {
    const stack = new Stack(workbench);
    await stack.enter('bench');
    try {
      const more = obtain === undefined ? {} : await stack.prepare(obtain);
      // the build that `npm start` runs is measured: sources loaded through tsx start slower and hold more memory
      const build = await keptBuild(workbench, 'test-build');
      const services = await stack.openServices({ supervise: false, also: ['ollama'], demanded });
      return await runToEnd(process.execPath, ['--import', 'tsx', script, ...args], {
        cwd: workbench.paths.root,
        env: {
          ...process.env,
          MONGODB_URL: services.mongodb,
          OPENSEARCH_URL: services.opensearch,
          TEMPORAL_ADDRESS: services.temporal,
          ...modelEnvironment(services, workbench.settings),
          TAMIS_TEST_BUILD: build,
          ...more,
        },
        signal: workbench.signal,
      });
    } finally {
      await stack.close({ leaveFound: true });
    }
  };
}

/** A script of test/bench that needs no service. */
export function benchAlone(script: string): (bench: Workbench, args: readonly string[]) => Promise<number> {
  return ({ paths, signal }, args) =>
    runToEnd(process.execPath, ['--import', 'tsx', script, ...args], {
      cwd: paths.root,
      env: process.env,
      signal,
    });
}
