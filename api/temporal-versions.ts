import { isGrpcServiceError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { WorkerVersion, WorkerVersionSteering } from '../activities/ports/worker-versions.js';
import { AppError } from '../schemas/app-error.js';
import { workerDeployment } from '../schemas/ids.js';
import { away } from './temporal-schedules.js';

/** Codes of gRPC. */
const NOT_FOUND = 5;
const FAILED_PRECONDITION = 9;
/** `VersionDrainageStatus` of Temporal's API: 1 is DRAINING, 2 is DRAINED. */
const DRAINAGE: Readonly<Record<number, WorkerVersion['state']>> = { 1: 'draining', 2: 'drained' };

/** Workers by their releases, as Temporal's worker deployments have them. `ask` bounds each call in time. */
export function createVersionSteering(
  client: Client,
  { namespace, prefix }: { namespace: string; prefix: string },
  ask: <T>(call: () => Promise<T>) => Promise<T>,
): WorkerVersionSteering {
  const deploymentName = workerDeployment(prefix);
  const steering: WorkerVersionSteering = {
    async workerVersions() {
      try {
        const { workerDeploymentInfo: info } = await ask(() =>
          client.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
        );
        const current = info?.routingConfig?.currentDeploymentVersion?.buildId;
        return (info?.versionSummaries ?? []).flatMap(({ deploymentVersion, drainageInfo, createTime }) => {
          const buildId = deploymentVersion?.buildId;
          if (buildId == null) return [];
          const drainage = DRAINAGE[drainageInfo?.status ?? 0] ?? 'waiting';
          const since = new Date(Number(createTime?.seconds ?? 0) * 1000);
          return [{ buildId, state: buildId === current ? ('current' as const) : drainage, since }];
        });
      } catch (error) {
        if (isGrpcServiceError(error) && (error.code as number) === NOT_FOUND) return [];
        throw away(error);
      }
    },

    async promoteWorkers(buildId) {
      const known = await steering.workerVersions();
      if (!known.some((version) => version.buildId === buildId))
        throw new AppError('NOT_FOUND', `No worker has said that it is of the release ${buildId}.`);
      try {
        await ask(() =>
          client.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId }),
        );
      } catch (error) {
        if (!isGrpcServiceError(error) || (error.code as number) !== FAILED_PRECONDITION) throw away(error);
        throw new AppError('CONFLICT', `The release ${buildId} cannot take over: ${error.details}`);
      }
    },
  };
  return steering;
}
