import { z } from 'zod';
import { ReadyBody, VersionBody } from '../../schemas/documents/documents-api.js';
import { json, route } from '../http/route.js';
import type { Route } from '../http/route.js';
import { API_VERSION, serviceVersion } from '../http/service-version.js';

/** What probes and browsers ask before they hold a token. */
export function healthRoutes(readiness: () => Promise<ReadyBody>): Route[] {
  return [
    route({
      method: 'get',
      path: '/health_check',
      summary: 'Whether the process answers',
      tag: 'Health',
      auth: 'public',
      responses: { 200: { description: 'It does', schema: z.string() } },
      handle: () => json(200, 'RAG API is up.'),
    }),
    route({
      method: 'get',
      path: '/version',
      summary: 'Our release, and the release of the wire contract',
      tag: 'Health',
      auth: 'public',
      responses: { 200: { description: 'Versions', schema: VersionBody } },
      handle: () => json(200, { version: serviceVersion, api_version: API_VERSION }),
    }),
    route({
      method: 'get',
      path: '/ready',
      summary: 'Whether the engines can be used',
      tag: 'Health',
      auth: 'public',
      responses: {
        200: { description: 'Ready', schema: ReadyBody },
        503: { description: 'An engine that everything rests on cannot be used', schema: ReadyBody },
      },
      async handle() {
        const body = await readiness();
        return json(body.status === 'ready' ? 200 : 503, body);
      },
    }),
  ];
}
