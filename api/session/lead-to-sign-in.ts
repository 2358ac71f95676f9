import type Koa from 'koa';
import type { Middleware } from 'koa';
import { AppError } from '../../schemas/app-error.js';
import { wantsPage } from '../console/console-routes.js';
import { bearerToken } from '../http/middleware/authentication.js';
import { surfaceOf } from '../http/surfaces.js';
import { isOwnPath } from './own-path.js';
import { isForeign } from './session-cookie.js';

/**
 * A person whose browser opens what needs a user goes to the identity provider first, and comes back here. Who follows
 * a link of another origin, the provider among them, may be signed in already: such a request has no session, so it is
 * made once more by a page of ours, and only that one leads to the provider.
 */
export const leadToSignIn: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const isMissing = error instanceof AppError && error.code === 'AUTHENTICATION_ERROR';
    if (!isMissing || ctx.method !== 'GET' || !wantsPage(ctx) || !isWorthSigningIn(ctx)) throw error;
    ctx.set('Cache-Control', 'no-store');
    if (isForeign(ctx) && isOpened(ctx) && isOwnPath(ctx.url)) {
      ctx.status = 200;
      ctx.type = 'html';
      ctx.body = askAgain(ctx.url);
      return;
    }
    ctx.redirect(`/auth/login?next=${encodeURIComponent(ctx.url)}`);
  }
};

/** Whether a session could change the answer: a browser would go round in circles otherwise. */
function isWorthSigningIn(ctx: Koa.Context): boolean {
  // The management side asks for a key, and what comes from the provider was refused there.
  if (surfaceOf(ctx.path).name !== 'documents' || ctx.path.startsWith('/auth/')) return false;
  // A token or a key is looked at before any session.
  return bearerToken(ctx, true) === null && ctx.get('X-Api-Key') === '';
}

/** Whether a person opens it in a window: not a frame, a picture or a script's request. */
function isOpened(ctx: Koa.Context): boolean {
  return ctx.get('Sec-Fetch-Mode') === 'navigate' && ctx.get('Sec-Fetch-Dest') === 'document';
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A page that opens `url` anew; without a script, which the policy of our answers would not let run. */
function askAgain(url: string): string {
  const address = url.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? '');
  return `<!doctype html><title>Tamis</title><meta http-equiv="refresh" content="0;url=${address}">\n`;
}
