import type Koa from 'koa';
import { z } from 'zod';
import { AppError } from '../../schemas/app-error.js';
import { route } from '../http/route.js';
import type { Answer, Route } from '../http/route.js';
import { readConsoleFile } from './console-files.js';
import type { ConsoleFile } from './console-files.js';

const BASE = '/app/';
const INDEX = 'index.html';
/** Their names change with their content. */
const ASSETS = 'assets/';

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "object-src 'none'",
  ].join('; '),
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const NOT_BUILT =
  'The console is not built: run `npm run build -w web` where Tamis was installed, then reload this page.\n';

function cacheControl(path: string): string {
  if (path === INDEX) return 'no-store';
  return path.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache';
}

function isKnown(ctx: Koa.Context, etag: string): boolean {
  return ctx
    .get('If-None-Match')
    .split(',')
    .some((known) => known.trim().replace(/^W\//, '') === etag);
}

function present(ctx: Koa.Context, path: string, { ending, bytes, etag, encoding }: ConsoleFile): Answer {
  const tag = encoding === null ? etag : etag.replace(/"$/, `-${encoding}"`);
  const headers = {
    ...HEADERS,
    'Cache-Control': cacheControl(path),
    Vary: 'Accept-Encoding',
    ...(path === INDEX ? {} : { ETag: tag }),
    ...(encoding === null ? {} : { 'Content-Encoding': encoding }),
  };
  if (path !== INDEX && isKnown(ctx, tag)) return { status: 304, headers };
  return { status: 200, content: { type: ending, data: bytes }, headers };
}

/** Whether a person with a browser asks: programs take anything. */
export function wantsPage(ctx: Koa.Context): boolean {
  return ctx.accepts('json', 'html') === 'html';
}

const responses = {
  200: {
    description: 'A file, or the page that draws itself by the path',
    contentType: '*/*',
    schema: z.string(),
  },
  304: { description: 'The client has it' },
  503: { description: 'The console is not built', contentType: 'text/plain', schema: z.string() },
};

/**
 * The built console, below `/app/`. A path without a file is one of the page's own: a browser gets the page, which
 * draws itself by the path.
 */
export function consoleRoutes(folder: string): Route[] {
  const serve = async (ctx: Koa.Context): Promise<Answer> => {
    const path = ctx.path.slice(BASE.length);
    const accepted = ctx.acceptsEncodings();
    const file = path === '' || path === INDEX ? null : await readConsoleFile(folder, path, accepted);
    if (file !== null) return present(ctx, path, file);
    const isPage = path === '' || path === INDEX || (wantsPage(ctx) && !path.startsWith(ASSETS));
    if (!isPage) throw new AppError('NOT_FOUND', 'Not Found', { plain: true });
    const page = await readConsoleFile(folder, INDEX, accepted);
    if (page !== null) return present(ctx, INDEX, page);
    return {
      status: 503,
      content: { type: 'text/plain', data: NOT_BUILT },
      headers: { 'Cache-Control': 'no-store' },
    };
  };
  const common = { method: 'get', tag: 'Console', auth: 'public', responses } as const;
  return [
    route({
      ...common,
      path: '/app',
      summary: 'The console, for people with a browser',
      handle: ({ koa }) => serve(koa),
    }),
    route({
      ...common,
      path: '/app/{+path}',
      summary: 'Files and pages of the console',
      request: { params: z.object({ path: z.string() }) },
      errors: ['NOT_FOUND'],
      handle: ({ koa }) => serve(koa),
    }),
  ];
}
