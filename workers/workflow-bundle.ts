import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { BundleOptions, WorkflowBundleOption } from '@temporalio/worker';

const SOURCES = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

const REQUEST_ID = fileURLToPath(new URL('../workflows/request-id.ts', import.meta.url));

const SEARCH_ATTRIBUTES = {
  plain: fileURLToPath(new URL('../workflows/search-attributes.ts', import.meta.url)),
  encrypted: fileURLToPath(new URL('../workflows/search-attributes-encrypted.ts', import.meta.url)),
};

/** What a workflow throws is written for the codec to encrypt. */
const ENCRYPTED_FAILURES = fileURLToPath(new URL('../workflows/encrypted-failures.ts', import.meta.url));

/** Where `npm run build` puts the bundles: beside the compiled code, and so never beside the sources. */
const PREBUILT = {
  plain: fileURLToPath(new URL('../workflow-bundle.js', import.meta.url)),
  encrypted: fileURLToPath(new URL('../workflow-bundle-encrypted.js', import.meta.url)),
};

/**
 * The code of the workflows as one script, made from the sources.
 * @param options.encryptsFailures as `TEMPORAL_ENCRYPT_PAYLOADS`
 */
export function bundleWorkflows({
  encryptsFailures = false,
  ...options
}: Pick<BundleOptions, 'logger'> & { encryptsFailures?: boolean } = {}): ReturnType<
  typeof bundleWorkflowCode
> {
  return bundleWorkflowCode({
    ...options,
    workflowsPath: SOURCES,
    workflowInterceptorModules: [
      REQUEST_ID,
      encryptsFailures ? SEARCH_ATTRIBUTES.encrypted : SEARCH_ATTRIBUTES.plain,
    ],
    ...(encryptsFailures && { failureConverterPath: ENCRYPTED_FAILURES }),
  });
}

/**
 * The bundle that was built with this code; made on the spot where the sources run themselves. In production it is
 * built once, so that every worker of a release runs the same workflow code and starts without a bundler.
 */
export async function workflowBundle(encryptsFailures: boolean): Promise<WorkflowBundleOption> {
  const built = encryptsFailures ? PREBUILT.encrypted : PREBUILT.plain;
  if (existsSync(built)) return { codePath: built };
  if (!existsSync(SOURCES)) throw new Error(`${built} is missing: the build is incomplete`);
  return bundleWorkflows({ encryptsFailures });
}
