import type Koa from 'koa';
import type { Middleware } from 'koa';
import { AppError } from '../../schemas/app-error.js';
import { wantsPage } from '../console/console-routes.js';
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
    // One that comes from there was refused: it would go round in circles.
    if (!isMissing || ctx.method !== 'GET' || !wantsPage(ctx) || ctx.path.startsWith('/auth/')) throw error;
    ctx.set('Cache-Control', 'no-store');
    if (isForeign(ctx) && isOpened(ctx) && OWN_PATH.test(ctx.url)) {
      ctx.status = 200;
      ctx.type = 'html';
      ctx.body = askAgain(ctx.url);
      return;
    }
    ctx.redirect(`/auth/login?next=${encodeURIComponent(ctx.url)}`);
  }
};

/** Not one that a browser would take for an address at another host. */
const OWN_PATH = /^\/(?![/\\])[!-~]*$/;

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
