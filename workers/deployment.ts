import type { WorkerOptions } from '@temporalio/worker';
import { workerDeployment } from '../schemas/ids.js';

/**
 * What a worker says of its release; nothing where it is of none. Workflows that `workflows/pinned.ts` names end on the
 * workers of the release that began them, the others go on with the release that is current.
 */
export function deploymentOptions(
  prefix: string,
  buildId: string | null,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (buildId === null) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: workerDeployment(prefix), buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}
