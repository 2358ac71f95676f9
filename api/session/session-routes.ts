import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';
import type { Config } from '../../schemas/config/config.js';
import type { Principal } from '../../schemas/documents/users.js';
import { SessionBody, SignIn } from '../../schemas/session-api.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { baseUrl } from '../http/base-url.js';
import type { RateLimiting } from '../http/middleware/rate-limit.js';
import { route } from '../http/route.js';
import type { Answer, Route } from '../http/route.js';
import type { KeyHolder } from '../../schemas/signals/api-keys.js';
import { csrfToken, isForeign, setCookie } from './session-cookie.js';
import type { Session, SessionIdentities, Sessions } from './sessions.js';

interface SessionRouteDeps {
  sessions: Sessions;
  findUser?: SessionIdentities['findUser'];
  /** Whose key this is, within the limits of wrong keys; one that is a user's token counts as none. */
  takeKey?: (ctx: Koa.Context, key: string, isUsers: boolean) => Promise<KeyHolder | null>;
  limitSignIn: RateLimiting['limitSignIn'];
  http: Config['http'];
}

/** Who signed in stands in the line of the request. */
export function nameInLog(ctx: Koa.Context, { user, holder }: Pick<Session, 'user' | 'holder'>): void {
  if (holder !== null) ctx.state['key'] = holder.name;
  if (user === null) return;
  const { user_id: userId, display_name: displayName, is_admin: isAdmin } = user;
  ctx.state['principal'] = { userId, displayName: displayName ?? '', isAdmin } satisfies Principal;
}

/** Whether the browser reached us, or a proxy before us, over TLS. */
export function isHttps(ctx: Koa.Context, http: Config['http']): boolean {
  return baseUrl(ctx, http).startsWith('https:') || /\bhttps$/i.test(ctx.get('X-Forwarded-Proto').trim());
}

const tag = 'Session';
const path = '/app/session';
const opened = { 200: { description: 'Whom the session stands for', schema: SessionBody } };

/** Signing in with a browser: a cookie in the place of a token, for both sides. */
export function sessionRoutes(deps: SessionRouteDeps): Route[] {
  const { sessions, findUser, takeKey, limitSignIn, http } = deps;

  const present = ({ cookie, record, user, holder }: Session): Answer => ({
    status: 200,
    body: {
      user: user && { id: user.user_id, name: user.display_name ?? '', is_admin: user.is_admin },
      management: holder !== null,
      provider: record.identity !== undefined,
      csrf_token: csrfToken(cookie),
      expires_at: record.expiresAt.toISOString(),
    },
    headers: { 'Cache-Control': 'no-store' },
  });

  const identify = async (ctx: Koa.Context, token: string) => {
    const digest = sha256Hex(token);
    const user = (await findUser?.(digest)) ?? null;
    // With authentication off every caller is a user, whatever the token.
    const isUsers = user?.token_digest === digest;
    const holder = (await takeKey?.(ctx, token, isUsers)) ?? null;
    if (user === null && holder === null)
      throw new AppError('AUTHENTICATION_ERROR', 'Invalid token', { plain: true });
    return {
      user,
      tokenDigest: user === null ? null : digest,
      holder,
      keyDigest: holder === null ? null : digest,
    };
  };

  return [
    route({
      method: 'post',
      path,
      summary:
        'Sign in with a browser: the answer sets a cookie, which is taken where a request has no other credentials. ' +
        'A second sign-in adds the other kind of token to the session',
      tag,
      auth: 'public',
      request: { body: SignIn },
      responses: opened,
      errors: ['AUTHENTICATION_ERROR', 'AUTH_ERROR'],
      async handle({ koa }, { body: { token } }) {
        if (isForeign(koa))
          throw new AppError('AUTH_ERROR', 'Only pages of this origin may sign in', { plain: true });
        const who = await limitSignIn(koa, sha256Hex(token), () => identify(koa, token));
        const session = await sessions.open(who, await sessions.read(koa));
        nameInLog(koa, who);
        const answer = present(session);
        return {
          ...answer,
          headers: { ...answer.headers, ...setCookie(session.cookie, isHttps(koa, http)) },
        };
      },
    }),
    route({
      method: 'get',
      path,
      summary: 'Who is signed in',
      tag,
      auth: 'public',
      responses: opened,
      errors: ['AUTHENTICATION_ERROR'],
      async handle({ koa }) {
        const session = await sessions.identify(koa);
        if (session === null) throw new AppError('AUTHENTICATION_ERROR', undefined, { plain: true });
        return present(session);
      },
    }),
    route({
      method: 'delete',
      path,
      summary: 'Sign out, with the header `X-CSRF-Token`',
      tag,
      auth: 'public',
      responses: { 204: { description: 'The session is over, if there was one' } },
      errors: ['AUTH_ERROR'],
      async handle({ koa }) {
        const session = await sessions.identify(koa);
        if (session !== null) await sessions.close(session);
        return { status: 204, headers: setCookie(null, isHttps(koa, http)) };
      },
    }),
  ];
}
