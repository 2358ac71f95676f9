import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import {
  QuarantineDecided,
  QuarantineFilters,
  QuarantinedSignal,
} from '../../../schemas/signals/forwarding-api.js';
import { AlertParams } from '../../../schemas/signals/proxy-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';
import type { ForwardingNotifiers } from '../intake/notify-forwarding.js';

type QuarantineDeps = Pick<ProxyDeps, 'alerts'> & { notify: ForwardingNotifiers };

const FAILED = 'Failed to decide on a quarantined signal';

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'No such signal is quarantined');
}

/** Signals that were stepped over, and what an operator decides on each. */
export function quarantineRoutes({ alerts, notify }: QuarantineDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/quarantine',
      summary: 'Signals that CAPI refuses for good, or without a usable shape; the latest first',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { query: QuarantineFilters },
      responses: { 200: { description: 'Quarantined signals', schema: z.array(QuarantinedSignal) } },
      errors: ['BAD_REQUEST', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { query: { watcher, limit, offset } }) {
        const asked = { limit, offset: Math.min(offset, Number.MAX_SAFE_INTEGER) };
        const found = await reportFailure('Failed to list quarantined signals', () =>
          alerts.quarantined(watcher === undefined ? asked : { ...asked, watcher }),
        );
        return json(
          200,
          found.map((signal) => ({ ...signal, receivedAt: signal.receivedAt.toISOString() })),
        );
      },
    }),
    route({
      method: 'post',
      path: '/api/quarantine/{id}/release',
      summary: 'Puts a signal behind everything that waits, to be sent after all',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { params: AlertParams },
      responses: { 200: { description: 'It waits', schema: QuarantineDecided } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'CONFLICT', 'UNEXPECTED_ERROR'],
      async handle({ log }, { params: { id } }) {
        const released = await reportFailure(FAILED, () => alerts.release(id));
        if (released === null) throw notFound();
        if (released === 'not-releasable')
          throw new AppError('CONFLICT', 'The signal was too large to be kept and cannot be sent');
        notify.signals(released.watcher, log);
        return json(200, { id, state: 'waiting' });
      },
    }),
    route({
      method: 'post',
      path: '/api/quarantine/{id}/discard',
      summary: 'Gives a signal up; its alert stays',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { params: AlertParams },
      responses: { 200: { description: 'It will not be sent', schema: QuarantineDecided } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { params: { id } }) {
        if (!(await reportFailure(FAILED, () => alerts.discard(id)))) throw notFound();
        return json(200, { id, state: 'discarded' });
      },
    }),
  ];
}
