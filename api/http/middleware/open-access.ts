import type Koa from 'koa';
import type { Middleware } from 'koa';
import ipaddr from 'ipaddr.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Config } from '../../../schemas/config/config.js';
import type { Logger } from '../../logger.js';
import { isReading } from '../is-reading.js';
import { isProbe, surfaceOf } from '../surfaces.js';

/**
 * While AUTH_TOKEN is not set, every request that arrives runs as the administrator, so a browser on this machine must
 * not bring the requests of foreign pages. What browsers add themselves and pages cannot change tells them: the name of
 * the host (a page that rebinds its own name to our address sends that name) and where the page comes from. Programs
 * such as curl and SDKs send neither Origin nor Sec-Fetch-Site.
 */
export function guardOpenAccess({ http, auth }: Pick<Config, 'http' | 'auth'>): Middleware {
  if (auth.token !== null) return (_ctx, next) => next();
  // `*` would let every page of the web write as the administrator.
  const origins = new Set(http.corsOrigins.filter((origin) => origin !== '*'));
  const names = new Set([...http.allowedHosts, http.host].map((name) => name.toLowerCase()));

  const isOurName = (ctx: Koa.Context): boolean => {
    const name = hostName(ctx.get('Host'));
    // HTTP/1.0 may leave it out; no browser does.
    if (name === '' || names.has(name) || name === 'localhost' || name.endsWith('.localhost')) return true;
    const address = parseAddress(name);
    return (
      address !== null &&
      (address.range() === 'loopback' ||
        address.toString() === parseAddress(ctx.socket.localAddress ?? '')?.toString())
    );
  };

  const isForeignPage = (ctx: Koa.Context): boolean => {
    const origin = ctx.get('Origin');
    if (origins.has(origin)) return false;
    const site = ctx.get('Sec-Fetch-Site').toLowerCase();
    if (site !== '') return site !== 'same-origin' && site !== 'none';
    return origin !== '' && hostOf(origin) !== ctx.get('Host').toLowerCase();
  };

  const refuse = (ctx: Koa.Context, text: string): never => {
    const { host, origin } = ctx.headers;
    (ctx.state['log'] as Logger).warn({ host, origin, method: ctx.method, path: ctx.path }, text);
    throw new AppError('AUTH_ERROR', text, { plain: true });
  };

  return (ctx, next) => {
    if (surfaceOf(ctx.path).name !== 'documents' || isProbe(ctx.path)) return next();
    if (!isOurName(ctx))
      refuse(ctx, 'Without AUTH_TOKEN only hosts on loopback and those in ALLOWED_HOSTS are answered');
    if (!isReading(ctx.method) && isForeignPage(ctx))
      refuse(ctx, 'Without AUTH_TOKEN pages of other origins than those in CORS_EXTRA_ORIGINS may not write');
    return next();
  };
}

/** Without the port and the brackets of IPv6. */
function hostName(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

function parseAddress(text: string): ReturnType<typeof ipaddr.process> | null {
  return ipaddr.isValid(text) && (text.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(text))
    ? ipaddr.process(text)
    : null;
}
