import type { Middleware } from 'koa';

/** Answers are data: nothing in them may be sniffed, framed or run. Pages that run scripts set their own policy. */
export const securityHeaders: Middleware = async (ctx, next) => {
  ctx.set({
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  });
  await next();
};
