import type Koa from 'koa';
import { AppError } from '../../../schemas/app-error.js';
import type { Config } from '../../../schemas/config/config.js';
import type { Principal, Role, Scope, UserRecord } from '../../../schemas/documents/users.js';
import type { Adapters } from '../../../activities/ports/adapters.js';
import { sha256Hex } from '../../../schemas/sha256.js';

export interface Caller {
  principal: Principal;
  scope: Scope;
}

/** Hexadecimal SHA-256 of a bearer token: all that is ever stored or looked up. */
export const tokenDigest = (token: string): string => sha256Hex(token);

/** Null: none was sent. */
export const bearerToken = (ctx: Koa.Context, tokenInQuery = false): string | null => {
  const header = ctx.get('Authorization').trim();
  if (header === '' || /^bearer$/i.test(header)) {
    const given = tokenInQuery ? [ctx.query['token'] ?? []].flat().at(-1) : undefined;
    return given === undefined || given === '' ? null : given;
  }
  return /^bearer\s+(.+)$/i.exec(header)?.[1] ?? '';
};

const refusal = (text: string): AppError => new AppError('AUTH_ERROR', text, { plain: true });

/**
 * Identifies the caller, and what it may see. 403 `Missing token` or `Invalid token`; 503 when the user
 * store cannot be asked. With authentication off every request runs as user 1.
 */
export const createAuthentication = (
  config: Config['auth'],
  stores: Pick<Adapters, 'users' | 'partitions'>,
): ((ctx: Koa.Context, options?: { tokenInQuery?: boolean }) => Promise<Caller>) => {
  let admin: Promise<UserRecord> | undefined;
  // User 1 must carry the digest of the present AUTH_TOKEN before any token is looked up; a failed try is repeated.
  const ensureAdmin = (): Promise<UserRecord> => {
    admin ??= stores.users
      .ensureAdmin(config.token === null ? null : tokenDigest(config.token))
      .catch((error: unknown) => {
        admin = undefined;
        throw error;
      });
    return admin;
  };

  const findUser = async (ctx: Koa.Context, tokenInQuery: boolean): Promise<UserRecord> => {
    if (config.token === null) return ensureAdmin();
    const token = bearerToken(ctx, tokenInQuery);
    if (token === null) throw refusal('Missing token');
    await ensureAdmin();
    const user = await stores.users.findByTokenDigest(tokenDigest(token));
    if (user === null) throw refusal('Invalid token');
    return user;
  };

  const scopeOf = async (user: UserRecord): Promise<Scope> => {
    if (user.is_admin && config.superAdminMode) return { kind: 'all', userId: user.user_id };
    const memberships = await stores.partitions.memberships(user.user_id);
    const roles = Object.fromEntries(
      memberships.map(({ partition, role }): [string, Role] => [partition, role]),
    );
    return { kind: 'partitions', userId: user.user_id, roles };
  };

  return async (ctx, { tokenInQuery = false } = {}) => {
    try {
      const user = await findUser(ctx, tokenInQuery);
      return {
        principal: { userId: user.user_id, displayName: user.display_name ?? '', isAdmin: user.is_admin },
        scope: await scopeOf(user),
      };
    } catch (error) {
      if (error instanceof AppError && error.status < 500) throw error;
      throw new AppError('SERVICE_UNAVAILABLE', undefined, { plain: true, cause: error });
    }
  };
};
