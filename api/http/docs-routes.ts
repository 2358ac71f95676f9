import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../schemas/app-error.js';
import { openApiDocument } from './openapi.js';
import { json, route } from './route.js';
import type { Answer, Route } from './route.js';

/** Its path only: the package itself is large and made for browsers. */
const packageFolder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui-standalone-preset.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

const START = `window.addEventListener('load', () => {
  window.ui = SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    persistAuthorization: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: 'BaseLayout',
  });
});
`;

const PAGE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tamis API</title>
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/assets/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script src="/docs/assets/swagger-ui-standalone-preset.js"></script>
    <script src="/docs/assets/start.js"></script>
  </body>
</html>
`;

/** Everything from ourselves: the page works on a machine without a network. The page styles itself inline. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function page(): Answer {
  return {
    status: 200,
    content: { type: 'text/html', data: PAGE },
    headers: { 'Content-Security-Policy': PAGE_POLICY },
  };
}

function asset(name: string): Answer {
  const headers = { 'Cache-Control': 'public, max-age=3600' };
  if (name === 'start.js') return { status: 200, content: { type: 'text/javascript', data: START }, headers };
  const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (type === undefined) throw new AppError('NOT_FOUND', 'Not Found', { plain: true });
  return { status: 200, content: { type, data: createReadStream(join(packageFolder, name)) }, headers };
}

const HTML = { 200: { description: 'An HTML page', schema: z.string(), contentType: 'text/html' } };

/**
 * The description of the API, for programs and for people.
 * @param auth for whom (wire contract, 1.1: with an identity provider one has to be signed in)
 */
export function docsRoutes(described: readonly Route[], auth: 'public' | 'user' = 'public'): Route[] {
  let document: object | undefined;
  const routes: Route[] = [
    route({
      method: 'get',
      path: '/openapi.json',
      summary: 'This description',
      tag: 'Documentation',
      auth,
      responses: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
      handle: () => json(200, (document ??= openApiDocument([...described, ...routes]))),
    }),
    ...['/docs', '/redoc'].map((path) =>
      route({
        method: 'get',
        path,
        summary: 'This description as a page',
        tag: 'Documentation',
        auth,
        responses: HTML,
        handle: page,
      }),
    ),
    route({
      method: 'get',
      path: '/docs/assets/{name}',
      summary: 'Scripts and styles of the page',
      tag: 'Documentation',
      auth: 'public',
      request: { params: z.object({ name: z.string() }) },
      responses: { 200: { description: 'A file' } },
      errors: ['NOT_FOUND'],
      handle: (_ctx, { params }) => asset(params.name),
    }),
  ];
  return routes;
}
