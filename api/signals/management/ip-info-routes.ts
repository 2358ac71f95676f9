import { parseAddressOrRange } from '../../../activities/outbound/address-or-range.js';
import { AppError } from '../../../schemas/app-error.js';
import { IpInfoBody, IpInfoParams } from '../../../schemas/signals/ip-info-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';

/** What others know of an address. */
export function ipInfoRoutes({ ipInfo }: Pick<ProxyDeps, 'ipInfo'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/ip-info/{ip}',
      summary: 'The names of an address, and who holds its network',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { params: IpInfoParams },
      responses: { 200: { description: 'What is known, perhaps in part', schema: IpInfoBody } },
      errors: ['BAD_REQUEST', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { params: { ip } }) {
        if (parseAddressOrRange(ip) === null) throw new AppError('BAD_REQUEST', 'Invalid IP address format');
        const facts = await reportFailure('Failed to get IP info', () => ipInfo.lookup(ip));
        return json(200, { ip, ...facts });
      },
    }),
  ];
}
