import type { Middleware } from 'koa';

/** Helmet's set. Answers are data: nothing in them may be sniffed, framed or run. */
const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
};

/** 180 days (proxy spec, 1.2). */
const STRICT_TRANSPORT = 'max-age=15552000; includeSubDomains';

/**
 * On every answer. Pages that run scripts set their own policy.
 * @param strictTransport tells browsers to come over https alone from now on
 */
export function securityHeaders({ strictTransport }: { strictTransport: boolean }): Middleware {
  const headers = { ...HEADERS, ...(strictTransport && { 'Strict-Transport-Security': STRICT_TRANSPORT }) };
  return async (ctx, next) => {
    ctx.set(headers);
    await next();
  };
}
