import { modelEnvironment } from '../app-environment.js';
import { runToEnd } from '../run-to-end.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';

/** A script of test/bench with the real services; what it measures it writes under test/bench/results. */
export function bench(script: string): (bench: Workbench, args: readonly string[]) => Promise<number> {
  return async (workbench, args) => {
    const stack = new Stack(workbench);
    await stack.enter('bench');
    try {
      const services = await stack.openServices({ supervise: false, also: ['ollama'] });
      return await runToEnd(process.execPath, ['--import', 'tsx', script, ...args], {
        cwd: workbench.paths.root,
        env: {
          ...process.env,
          MONGODB_URL: services.mongodb,
          OPENSEARCH_URL: services.opensearch,
          TEMPORAL_ADDRESS: services.temporal,
          ...modelEnvironment(services, workbench.settings),
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
