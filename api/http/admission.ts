import type Koa from 'koa';
import type { PartitionStore } from '../../activities/ports/partitions.js';
import { AppError } from '../../schemas/app-error.js';
import { inScope } from '../../schemas/documents/users.js';
import type { KeyScope } from '../../schemas/signals/api-keys.js';
import type { AdmissionOptions, Caller } from './middleware/authentication.js';
import { authoriseAnew, authoriseCaller } from './middleware/authorise-partition.js';
import type { Route, RouteAuth } from './route.js';
import { neededScope } from './route.js';

/** Who is let in, and by what. */
export interface AdmittingOptions {
  /** Who the caller is and what it may see; without it no route may ask for a user. */
  users?: {
    authenticate(ctx: Koa.Context, options?: AdmissionOptions): Promise<Caller>;
    partitions: Pick<PartitionStore, 'get' | 'roleOf'>;
  };
  /** Throws unless the request carries a key with this scope; without it no route may ask for one. */
  checkApiKey?: ((ctx: Koa.Context, needed: KeyScope, again?: boolean) => Promise<void>) | undefined;
  /** Throws over the limit of requests without authentication. */
  limitAddress?: (ctx: Koa.Context) => Promise<void>;
}

/** Authenticates and authorises. Only public routes, and those that CAPI guards, are served without a principal. */
async function admit(
  ctx: Koa.Context,
  route: Route,
  options: AdmittingOptions,
  again: boolean,
): Promise<Caller | null> {
  const { auth } = route;
  if (auth === 'public') {
    if (!again) await options.limitAddress?.(ctx);
    return null;
  }
  if (typeof auth === 'object' && 'token' in auth) return null;
  if (typeof auth === 'object' && 'key' in auth) {
    if (options.checkApiKey === undefined)
      throw new Error(`${route.path} asks for a key, and no check of keys is configured`);
    await options.checkApiKey(ctx, neededScope(route), again);
    return null;
  }
  return admitUser(ctx, { ...route, auth }, options, again);
}

type UserAuth = Exclude<RouteAuth, 'public' | { token: unknown } | { key: unknown }>;

async function admitUser(
  ctx: Koa.Context,
  { path, auth, tokenInQuery }: Pick<Route, 'path' | 'tokenInQuery'> & { auth: UserAuth },
  { users }: AdmittingOptions,
  again: boolean,
): Promise<Caller> {
  if (users === undefined) throw new Error(`${path} asks for a user, and no store of users is configured`);
  const caller = await users.authenticate(ctx, { tokenInQuery: tokenInQuery === true, again });
  ctx.state['principal'] = caller.principal;
  if (auth === 'user') return caller;
  const forAdmins = auth === 'admin' || auth.admin === true;
  if (forAdmins && !caller.principal.isAdmin)
    throw new AppError('AUTH_ERROR', 'Admin privileges required', { plain: true });
  if (auth === 'admin') return caller;
  const partition = (ctx['params'] as Record<string, string>)['partition'];
  if (partition === undefined) throw new Error(`${path} asks for a role on a partition it does not name`);
  return authoriseCaller(users.partitions, caller, partition, auth.partition);
}

/** Who was admitted so long ago is admitted anew. */
const RECENT_MS = 1000;

/** Who is calling, as of a moment ago: admitted at the first call, and anew wherever that was long ago. */
export function createAdmission(
  ctx: Koa.Context,
  route: Route,
  options: AdmittingOptions,
): (withinMs?: number) => Promise<Caller | null> {
  let caller: Caller | null = null;
  let admittedAt: number | null = null;
  return async (withinMs = RECENT_MS) => {
    if (admittedAt !== null && performance.now() - admittedAt < withinMs) return caller;
    caller = await admit(ctx, route, options, admittedAt !== null);
    admittedAt = performance.now();
    return caller;
  };
}

/**
 * After the body has come, for which a client may take an hour: a token, session or key may have ended by now, and a
 * partition that was missing, or was asked for some time ago, may be another's. Handlers that read a body by themselves
 * call `admitAnew` by themselves.
 */
export async function admitWithInput(
  ctx: Koa.Context,
  { auth, request }: Route,
  caller: Caller | null,
  { users }: AdmittingOptions,
  admitAnew: () => Promise<Caller | null>,
): Promise<Caller | null> {
  const hasInput = request?.body !== undefined || request?.form !== undefined;
  if (auth === 'public' || !hasInput) return caller;
  const present = await admitAnew();
  if (present === null || users === undefined) return present;
  if (typeof auth !== 'object' || !('partition' in auth)) return present;
  const partition = (ctx['params'] as Record<string, string>)['partition']!;
  if (present !== caller || !inScope(present.scope, partition))
    await authoriseAnew(users.partitions, present, partition, auth.partition);
  return present;
}
