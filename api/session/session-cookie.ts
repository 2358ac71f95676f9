import { createHmac, randomBytes } from 'node:crypto';
import type Koa from 'koa';
import { sha256Hex } from '../../schemas/sha256.js';

const NAME = 'tamis_session';
const BYTES = 32;
const VALUE = /^[A-Za-z0-9_-]{43}$/;
/** No page can set or forge it; the others may come from pages of other origins. */
const OUR_PAGES = new Set(['', 'same-origin', 'none']);

export function newCookie(): string {
  return randomBytes(BYTES).toString('base64url');
}

/**
 * The value of the cookie, where it counts: a request with credentials of its own is served by those, and one that a
 * page of another origin makes has none.
 */
export function sessionCookie(ctx: Koa.Context): string | null {
  if (ctx.get('Authorization') !== '' || ctx.get('X-Api-Key') !== '') return null;
  if (isForeign(ctx) && ctx.state['mayUseSession'] !== true) return null;
  const value = ctx.cookies.get(NAME) ?? '';
  // What cannot be one is not looked up.
  return VALUE.test(value) ? value : null;
}

/** Whether the browser says that a page of another origin makes the request. */
export function isForeign(ctx: Koa.Context): boolean {
  return !OUR_PAGES.has(ctx.get('Sec-Fetch-Site').toLowerCase());
}

/** All that is stored of a cookie. */
export function cookieDigest(cookie: string): string {
  return sha256Hex(cookie);
}

/** Told to our own pages alone: a page of another origin can make the browser send the cookie, and not this. */
export function csrfToken(cookie: string): string {
  return createHmac('sha256', cookie).update('csrf').digest('base64url');
}

/** Null takes the cookie away. */
export function setCookie(cookie: string | null, isHttps: boolean): Record<string, string> {
  return {
    'Set-Cookie': [
      `${NAME}=${cookie ?? ''}`,
      ...(cookie === null ? ['Max-Age=0'] : []),
      'HttpOnly',
      'SameSite=Strict',
      'Path=/',
      ...(isHttps ? ['Secure'] : []),
    ].join('; '),
  };
}
