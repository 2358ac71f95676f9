import { ConfigBody, RootBody } from '../../schemas/documents/partitions-api.js';
import { wantsPage } from '../console/console-routes.js';
import { json, route } from '../http/route.js';
import type { Route } from '../http/route.js';
import { serviceVersion } from '../http/service-version.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { redactConfig } from './redact-config.js';

/** What the service is, for programs; a browser is led to the console. */
export const rootRoute = route({
  method: 'get',
  path: '/',
  summary: 'What this is; a browser is led to the console',
  tag: 'Health',
  auth: 'public',
  responses: {
    200: { description: 'Name and release', schema: RootBody },
    302: { description: 'To the console, where text/html is asked for' },
  },
  handle({ koa }) {
    koa.vary('Accept');
    if (wantsPage(koa)) return { status: 302, headers: { Location: '/app/' } };
    // The name under which clients of the wire contract know it.
    return json(200, { status: 'ok', app: 'openrag', version: serviceVersion });
  },
});

/** What the service is, and how it is set up (wire contract, section 1.2). */
export function serviceRoutes({ config }: GatewayDeps): Route[] {
  return [
    rootRoute,
    route({
      method: 'get',
      path: '/config',
      summary: 'All settings, secrets blanked out',
      tag: 'Health',
      auth: 'admin',
      responses: { 200: { description: 'Settings', schema: ConfigBody } },
      handle: () =>
        json(200, {
          ...redactConfig(config),
          super_admin_mode: config.auth.superAdminMode,
          chainlit_enabled: false,
          grafana_url: config.grafanaUrl,
        }),
    }),
  ];
}
