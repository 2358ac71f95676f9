import { z } from 'zod';
import type Koa from 'koa';
import type { SessionStore } from '../../activities/ports/sessions.js';
import type { Adapters } from '../../activities/ports/adapters.js';
import { AppError } from '../../schemas/app-error.js';
import type { Config } from '../../schemas/config/config.js';
import { DEFAULT_ADMIN } from '../../schemas/documents/users.js';
import type { UserRecord } from '../../schemas/documents/users.js';
import { SignInMethods } from '../../schemas/session-api.js';
import { createUser } from '../../activities/documents/commands/create-user.js';
import { wantsPage } from '../console/console-routes.js';
import { baseUrl } from '../http/base-url.js';
import { json, route } from '../http/route.js';
import type { Answer, Route } from '../http/route.js';
import type { Identity, IdentityProvider, SignInAttempt } from './identity-provider.js';
import { isOwnPath } from './own-path.js';
import { setCookie } from './session-cookie.js';
import { isHttps, nameInLog } from './session-routes.js';
import type { Sessions } from './sessions.js';

interface ProviderRouteDeps {
  provider: IdentityProvider;
  settings: NonNullable<Config['auth']['oidc']>;
  adapters: Pick<Adapters, 'users' | 'counters'>;
  defaultFileQuota: number;
  sessions: Sessions;
  store: Pick<SessionStore, 'removeIdentity'>;
  http: Config['http'];
}

const CALLBACK = '/auth/callback';
const CONSOLE = '/app/';
const ATTEMPT_COOKIE = 'tamis_sign_in';
/** So long a person may take at the provider. */
const ATTEMPT_S = 600;

const Attempt = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() });
type Attempt = SignInAttempt & { next: string };

function safeNext(next: string | undefined): string {
  return next !== undefined && isOwnPath(next) ? next : CONSOLE;
}

/** Sent along when the provider leads the browser back, which `SameSite=Strict` would prevent. */
function attemptCookie(attempt: Attempt | null, secure: boolean): string {
  const value = attempt === null ? '' : Buffer.from(JSON.stringify(attempt)).toString('base64url');
  return [
    `${ATTEMPT_COOKIE}=${value}`,
    `Max-Age=${attempt === null ? 0 : ATTEMPT_S}`,
    'HttpOnly',
    'SameSite=Lax',
    `Path=${CALLBACK}`,
    ...(secure ? ['Secure'] : []),
  ].join('; ');
}

function readAttempt(ctx: Koa.Context): Attempt | null {
  try {
    const text = Buffer.from(ctx.cookies.get(ATTEMPT_COOKIE) ?? '', 'base64url').toString();
    return Attempt.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function redirect(location: string, cookies: string[] = []): Answer {
  return {
    status: 302,
    headers: {
      Location: location,
      'Cache-Control': 'no-store',
      ...(cookies.length > 0 && { 'Set-Cookie': cookies }),
    },
  };
}

/** Which word the sign-in page has for a failure. */
function wordOf({ code, status }: AppError): string {
  if (status >= 500) return 'provider';
  return code === 'AUTH_ERROR' ? 'unknown' : 'refused';
}

/** A person gets the sign-in page, which says what happened; a program the error. */
function failure(ctx: Koa.Context, error: unknown, secure: boolean): Answer {
  if (!(error instanceof AppError) || !wantsPage(ctx)) throw error;
  return redirect(`${CONSOLE}sign-in?failed=${wordOf(error)}`, [attemptCookie(null, secure)]);
}

const tag = 'Session';
const REDIRECT = { 302: { description: 'Where to go on' } };

/** What the sign-in page offers; there in either mode. */
export function signInMethodsRoute(oidc: boolean): Route {
  return route({
    method: 'get',
    path: '/auth/methods',
    summary: 'How people sign in with a browser, besides by a token',
    tag,
    auth: 'public',
    responses: { 200: { description: 'Methods', schema: SignInMethods } },
    handle: () => json(200, { oidc }),
  });
}

/**
 * Signing in at an identity provider (OpenID Connect, authorisation code with PKCE). Its subject is the external id of
 * a user; the session is the same as with a token.
 */
export function providerRoutes(deps: ProviderRouteDeps): Route[] {
  const { provider, settings, sessions, store, http } = deps;
  const { users } = deps.adapters;

  const userOf = async ({ subject, name, groups }: Identity): Promise<UserRecord> => {
    const isAdmin = groups.some((group) => settings.adminGroups.includes(group));
    const known = await users.findByIdentity({ externalUserId: subject });
    if (known !== null) {
      // User 1 has the token of the environment, which is the way in while the provider is away.
      const follows = settings.adminGroups.length > 0 && known.user_id !== DEFAULT_ADMIN;
      const changed = follows && known.is_admin !== isAdmin;
      const user = changed ? await users.update(known.user_id, { is_admin: isAdmin }) : known;
      if (user !== null) return user;
    }
    if (!settings.createUsers)
      throw new AppError('AUTH_ERROR', 'This person has no account here', { plain: true });
    const fields = { display_name: name, external_user_id: subject, is_admin: isAdmin };
    return createUser(deps.adapters, fields, {
      token: null,
      defaultFileQuota: deps.defaultFileQuota,
    }).catch(async (error: unknown) => {
      // Made by another sign-in at the same moment.
      const made = await users.findByIdentity({ externalUserId: subject });
      if (made === null) throw error;
      return made;
    });
  };

  return [
    route({
      method: 'get',
      path: '/auth/login',
      summary: 'Sign in at the identity provider, with a browser',
      tag,
      auth: 'public',
      request: { query: z.object({ next: z.string().max(2_000).optional() }) },
      responses: REDIRECT,
      errors: ['SERVICE_UNAVAILABLE'],
      async handle({ koa, baseUrl: base }, { query }) {
        const secure = isHttps(koa, http);
        try {
          const { url, attempt } = await provider.begin(`${base}${CALLBACK}`);
          return redirect(url, [attemptCookie({ ...attempt, next: safeNext(query.next) }, secure)]);
        } catch (error) {
          return failure(koa, error, secure);
        }
      },
    }),
    route({
      method: 'get',
      path: CALLBACK,
      summary: 'Where the identity provider leads the browser back to',
      tag,
      auth: 'public',
      responses: REDIRECT,
      errors: ['AUTHENTICATION_ERROR', 'AUTH_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle({ koa, baseUrl: base }) {
        const secure = isHttps(koa, http);
        try {
          const attempt = readAttempt(koa);
          if (attempt === null)
            throw new AppError(
              'AUTHENTICATION_ERROR',
              'No sign-in of this browser is under way: begin again',
              {
                plain: true,
              },
            );
          const identity = await provider.finish(new URL(`${base}${CALLBACK}${koa.search}`), attempt);
          const user = await userOf(identity);
          const { subject, sid } = identity;
          const who = {
            user,
            tokenDigest: null,
            identity: { userId: user.user_id, subject, sid },
            holder: null,
            keyDigest: null,
          };
          const session = await sessions.open(who, await sessions.read(koa));
          nameInLog(koa, who);
          const cookie = setCookie(session.cookie, secure)['Set-Cookie'] ?? '';
          return redirect(safeNext(attempt.next), [cookie, attemptCookie(null, secure)]);
        } catch (error) {
          return failure(koa, error, secure);
        }
      },
    }),
    route({
      method: 'get',
      path: '/auth/logout',
      summary:
        'Leads to where the session at the identity provider ends; that here ends by `DELETE /app/session`',
      tag,
      auth: 'public',
      responses: REDIRECT,
      errors: ['SERVICE_UNAVAILABLE'],
      async handle({ koa }) {
        const back = `${baseUrl(koa, http)}${CONSOLE}`;
        // The session here is over by now: a provider that is away must not be in the way.
        return redirect((await provider.logoutUrl(back).catch(() => null)) ?? back);
      },
    }),
    route({
      method: 'post',
      path: '/auth/backchannel-logout',
      summary: 'Told by the identity provider when a session there has ended',
      tag,
      auth: 'public',
      request: { form: z.object({ logout_token: z.string().max(20_000) }) },
      responses: { 200: { description: 'The sessions here are over' } },
      errors: ['BAD_REQUEST', 'VALIDATION_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { form }) {
        await store.removeIdentity(await provider.readLogoutToken(form.logout_token));
        return { status: 200, headers: { 'Cache-Control': 'no-store' } };
      },
    }),
  ];
}
