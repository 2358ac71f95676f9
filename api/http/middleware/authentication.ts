import type Koa from 'koa';
import { AppError } from '../../../schemas/app-error.js';
import { bearerIn } from '../../../schemas/bearer.js';
import type { Config } from '../../../schemas/config/config.js';
import type { Principal, Role, Scope, UserRecord } from '../../../schemas/documents/users.js';
import type { Adapters } from '../../../activities/ports/adapters.js';
import { sha256Hex } from '../../../schemas/sha256.js';
import { sessionCookie } from '../../session/session-cookie.js';
import type { Sessions } from '../../session/sessions.js';

export interface AdmissionOptions {
  tokenInQuery?: boolean;
  /** A request that was admitted before: asking once more is no second request, and no use of its session. */
  again?: boolean;
}

export interface Caller {
  principal: Principal;
  scope: Scope;
}

/** Hexadecimal SHA-256 of a bearer token: all that is ever stored or looked up. */
export function tokenDigest(token: string): string {
  return sha256Hex(token);
}

/** Null: none was sent. */
export function bearerToken(ctx: Koa.Context, tokenInQuery = false): string | null {
  const header = ctx.get('Authorization').trim();
  if (header === '' || /^bearer$/i.test(header)) {
    const given = tokenInQuery ? [ctx.query['token'] ?? []].flat().at(-1) : undefined;
    return given === undefined || given === '' ? null : given;
  }
  return bearerIn(header) ?? '';
}

function refusal(text: string): AppError {
  return new AppError('AUTH_ERROR', text, { plain: true });
}

function unauthenticated(): AppError {
  return new AppError('AUTHENTICATION_ERROR', undefined, { plain: true });
}

type FindUser = (tokenDigest: string) => Promise<UserRecord | null>;

/**
 * Whose token this is, by its digest. With authentication off every caller is user 1.
 * @param settled user 1 as it was recorded at the start
 */
export function createFindUser(
  config: Config['auth'],
  users: Adapters['users'],
  settled: UserRecord | null = null,
): FindUser {
  // User 1 must carry the digest of the present AUTH_TOKEN before any token is looked up; a failed try is repeated.
  // Once is enough: a process of before would put back its own token while a new one is rolled out.
  let admin = settled === null ? undefined : Promise.resolve(settled);
  const ensureAdmin = (): Promise<UserRecord> => {
    admin ??= users
      .ensureAdmin(config.token === null ? null : tokenDigest(config.token))
      .catch((error: unknown) => {
        admin = undefined;
        throw error;
      });
    return admin;
  };

  return async (digest) => {
    const first = await ensureAdmin();
    return config.token === null ? first : users.findByTokenDigest(digest);
  };
}

/**
 * Identifies the caller, and what it may see: by its token or, where it gave none, by the session of its cookie. 403
 * `Missing token` or `Invalid token`, 401 in their place with an identity provider, and for a session that has ended;
 * 503 when the user store cannot be asked.
 */
export function createAuthentication(
  config: Config['auth'],
  {
    findUser,
    partitions,
    sessions,
  }: {
    findUser: FindUser;
    partitions: Adapters['partitions'];
    sessions: Pick<Sessions, 'identify'>;
  },
): (ctx: Koa.Context, options?: AdmissionOptions) => Promise<Caller> {
  /** With an identity provider an unknown caller may sign in there (wire contract, 1.1). */
  const refused = (text: string): AppError => (config.oidc === null ? refusal(text) : unauthenticated());

  const userOf = async (
    ctx: Koa.Context,
    { tokenInQuery = false, again = false }: AdmissionOptions,
  ): Promise<UserRecord> => {
    const token = bearerToken(ctx, tokenInQuery);
    if (config.token === null || token !== null) {
      const user = await findUser(tokenDigest(token ?? ''));
      if (user === null) throw refused('Invalid token');
      return user;
    }
    if (sessionCookie(ctx) === null) throw refused('Missing token');
    const session = await sessions.identify(ctx, { again });
    if (session === null) throw unauthenticated();
    if (session.user === null) throw refusal('Signed in without a user token');
    return session.user;
  };

  const scopeOf = async (user: UserRecord): Promise<Scope> => {
    if (user.is_admin && config.superAdminMode) return { kind: 'all', userId: user.user_id };
    const memberships = await partitions.memberships(user.user_id);
    const roles = Object.fromEntries(
      memberships.map(({ partition, role }): [string, Role] => [partition, role]),
    );
    return { kind: 'partitions', userId: user.user_id, roles };
  };

  return async (ctx, options = {}) => {
    try {
      const user = await userOf(ctx, options);
      return {
        principal: { userId: user.user_id, displayName: user.display_name ?? '', isAdmin: user.is_admin },
        scope: await scopeOf(user),
      };
    } catch (error) {
      if (error instanceof AppError && error.status < 500) throw error;
      throw new AppError('SERVICE_UNAVAILABLE', undefined, { plain: true, cause: error });
    }
  };
}
