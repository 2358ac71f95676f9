import type { Middleware } from 'koa';
import { AppError } from '../../schemas/app-error.js';
import { wantsPage } from '../console/console-routes.js';

/** A person whose browser opens what needs a user goes to the identity provider first, and comes back here. */
export const leadToSignIn: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const isMissing = error instanceof AppError && error.code === 'AUTHENTICATION_ERROR';
    // One that comes from there was refused: it would go round in circles.
    if (!isMissing || ctx.method !== 'GET' || !wantsPage(ctx) || ctx.path.startsWith('/auth/')) throw error;
    ctx.set('Cache-Control', 'no-store');
    ctx.redirect(`/auth/login?next=${encodeURIComponent(ctx.url)}`);
  }
};
