import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { BundleOptions, WorkflowBundleOption } from '@temporalio/worker';

const SOURCES = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

const INTERCEPTORS = fileURLToPath(new URL('../workflows/request-id.ts', import.meta.url));

/** Where `npm run build` puts the bundle: beside the compiled code, and so never beside the sources. */
const PREBUILT = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));

/** The code of the workflows as one script, made from the sources. */
export function bundleWorkflows(
  options: Pick<BundleOptions, 'logger'> = {},
): ReturnType<typeof bundleWorkflowCode> {
  return bundleWorkflowCode({
    ...options,
    workflowsPath: SOURCES,
    workflowInterceptorModules: [INTERCEPTORS],
  });
}

/**
 * The bundle that was built with this code; made on the spot where the sources run themselves. In production it is
 * built once, so that every worker of a release runs the same workflow code and starts without a bundler.
 */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  if (existsSync(PREBUILT)) return { codePath: PREBUILT };
  if (!existsSync(SOURCES)) throw new Error(`${PREBUILT} is missing: the build is incomplete`);
  return bundleWorkflows();
}
