import { WorkerVersionList, WorkerVersionParams } from '../../schemas/migrations/worker-versions-api.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { empty, json, route } from '../http/route.js';
import type { Route } from '../http/route.js';

const TAG = 'Migrations';

/** Which releases of workers there are, and which of them takes new work. */
export function workerVersionRoutes({ workflows }: Pick<GatewayDeps, 'workflows'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/worker-versions',
      summary: 'Releases of workers with WORKER_BUILD_ID, the newest first',
      tag: TAG,
      auth: 'admin',
      responses: { 200: { description: 'Releases', schema: WorkerVersionList } },
      errors: ['SERVICE_UNAVAILABLE'],
      async handle() {
        const found = await workflows.workerVersions();
        found.sort((one, other) => other.since.getTime() - one.since.getTime());
        return json(200, {
          versions: found.map(({ buildId, state, since }) => ({
            build_id: buildId,
            state,
            since: since.toISOString(),
          })),
        });
      },
    }),
    route({
      method: 'post',
      path: '/admin/worker-versions/{build_id}/promote',
      summary: 'Let the workers of a release take over; documents that others have begun end where they are',
      tag: TAG,
      auth: 'admin',
      request: { params: WorkerVersionParams },
      responses: { 204: { description: 'It is current' } },
      errors: ['NOT_FOUND', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { params }) {
        await workflows.promoteWorkers(params.build_id);
        return empty(204);
      },
    }),
  ];
}
