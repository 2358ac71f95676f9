import type Koa from 'koa';
import type { Config } from '../../schemas/config/config.js';

const HOST = /^[A-Za-z0-9._-]+(:\d+)?$|^\[[0-9A-Fa-f:.]+\](:\d+)?$/;

/**
 * `scheme://host` that the client reached us under, for links that it follows as they are. PREFERRED_URL_SCHEME
 * wins, since a proxy that ends TLS makes us see plain HTTP.
 */
export function baseUrl(ctx: Koa.Context, http: Config['http']): string {
  const host = HOST.test(ctx.host) ? ctx.host : `localhost:${ctx.socket.localPort ?? http.port}`;
  return `${http.preferredScheme ?? ctx.protocol}://${host}`;
}
