import { z } from 'zod';
import { RetentionBody } from '../../../schemas/retention-api.js';
import { retentionDays } from '../../../schemas/signals/proxy-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { dueRecords } from '../../service/due-records.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';

type RetentionDeps = Pick<ProxyDeps, 'alerts' | 'settings' | 'now'>;

/** A dry run of what the schedule `retention` does. */
export function retentionRoutes({ alerts, settings, now }: RetentionDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/retention',
      summary: 'How many alerts retention would remove now, and how many in quarantine it would give up',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { query: z.object({ days: retentionDays }) },
      responses: { 200: { description: 'Counted; nothing is removed', schema: RetentionBody } },
      errors: ['BAD_REQUEST', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { query }) {
        const at = now();
        const kept = { alerts: settings.retentionDays, quarantine: settings.quarantineDays };
        const records = await reportFailure('Failed to count what retention would take', () =>
          Promise.all([
            dueRecords('alerts', { days: query.days ?? kept.alerts, now: at }, (before, limit) =>
              alerts.countOld('removable', before, limit),
            ),
            dueRecords('quarantine', { days: query.days ?? kept.quarantine, now: at }, (before, limit) =>
              alerts.countOld('quarantined', before, limit),
            ),
          ]),
        );
        return json(200, { records });
      },
    }),
  ];
}
