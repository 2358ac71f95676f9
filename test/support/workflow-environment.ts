import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { bundleWorkflows } from '../../workers/workflow-bundle.js';

let quiet = false;

/** The SDK's own chatter would bury a failing test; its errors still show. */
export function quietRuntime(): void {
  if (!quiet) Runtime.install({ logger: new DefaultLogger('ERROR') });
  quiet = true;
}

let bundle: Promise<WorkflowBundleOption> | undefined;

/** The real workflow bundle: as the launcher built it for the tests, otherwise made once per test file. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  const build = process.env['TAMIS_TEST_BUILD'];
  return (bundle ??=
    build === undefined
      ? bundleWorkflows({ logger: new DefaultLogger('ERROR') })
      : Promise.resolve({ codePath: join(build, 'workflow-bundle.js') }));
}

/** The SDK gives the server five seconds to start, which a busy machine may need for something else. */
const STARTS = 3;

/** Temporal's own time-skipping test server: a day of waiting passes in a second. */
export async function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const path = process.env['TEMPORAL_TEST_SERVER'];
  if (path === undefined) throw new Error('TEMPORAL_TEST_SERVER is not set: run the tests with `npm test`');
  quietRuntime();
  for (let start = 1; ; start += 1)
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (start === STARTS || !/did not start within/.test(String(error))) throw error;
    }
}
