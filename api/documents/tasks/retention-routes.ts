import { z } from 'zod';
import { queryNumber } from '../../../schemas/documents/documents-api.js';
import { MAX_RETENTION_DAYS, RetentionBody } from '../../../schemas/retention-api.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { dueRecords } from '../../service/due-records.js';

const RetentionQuery = z.object({
  days: queryNumber(z.int().min(1).max(MAX_RETENTION_DAYS))
    .optional()
    .describe('as if they were kept so long'),
});

/** A dry run of the schedules `retention-tasks` and `retention-callbacks`. */
export function retentionRoutes({ adapters, config }: GatewayDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/retention',
      summary: 'How many records of ended tasks and callbacks retention would remove now',
      tag: 'Indexing',
      auth: 'admin',
      request: { query: RetentionQuery },
      responses: { 200: { description: 'Counted; nothing is removed', schema: RetentionBody } },
      async handle(_ctx, { query }) {
        const kept = { days: query.days ?? config.documents.taskRetentionDays, now: new Date() };
        const records = await Promise.all([
          dueRecords('tasks', kept, (before, limit) => adapters.tasks.countEnded(before, limit)),
          dueRecords('callbacks', kept, (before, limit) => adapters.callbacks.countEnded(before, limit)),
        ]);
        return json(200, { records });
      },
    }),
  ];
}
