import { timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import type { SessionRecord, SessionStore } from '../../activities/ports/sessions.js';
import { AppError } from '../../schemas/app-error.js';
import type { Config } from '../../schemas/config/config.js';
import type { UserRecord } from '../../schemas/documents/users.js';
import type { KeyHolder } from '../../schemas/signals/api-keys.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { isReading } from '../http/is-reading.js';
import type { Logger } from '../logger.js';
import { cookieDigest, csrfToken, newCookie, sessionCookie } from './session-cookie.js';

/** The end of a session is moved on no more often. */
const PROLONG_MS = 60_000;

/** Who is behind the digests of a session; a side that this listener does not serve is left out. */
export interface SessionIdentities {
  findUser?: (tokenDigest: string) => Promise<UserRecord | null>;
  /** Null for one that is being deleted. */
  getUser?: (userId: number) => Promise<UserRecord | null>;
  findHolder?: (ctx: Koa.Context, keyDigest: string) => Promise<KeyHolder | null>;
}

export interface Session {
  cookie: string;
  record: SessionRecord;
  user: UserRecord | null;
  holder: KeyHolder | null;
}

export interface Sessions {
  /** Null without a cookie, and for a session that has ended. */
  read(ctx: Koa.Context): Promise<Session | null>;
  /**
   * The same, for a request that is to be served as whom the session stands for.
   * @param options.again the request was served as such before: its session is not prolonged
   * @throws AppError AUTH_ERROR (403) for a writing method without the session's X-CSRF-Token
   */
  identify(ctx: Koa.Context, options?: { again?: boolean }): Promise<Session | null>;
  /** Under a new cookie, in the place of a session that there was. */
  open(who: Pick<Session, 'user' | 'holder'> & Digests, former: Session | null): Promise<Session>;
  close(session: Session): Promise<void>;
}

type Digests = Pick<SessionRecord, 'tokenDigest' | 'keyDigest' | 'identity'>;

/**
 * Sessions over their store. A session has no rights of its own: at each request the token and the key that it was
 * opened with are looked up again, and it ends when one of them does not hold any more.
 */
export function createSessions({
  store,
  settings,
  identities: { findUser, getUser, findHolder },
  isTold = () => false,
  now,
}: {
  store: SessionStore;
  settings: Config['session'];
  identities: SessionIdentities;
  /** Whether a request tells by itself that it may be made with the session, without its X-CSRF-Token. */
  isTold?: (ctx: Koa.Context) => boolean;
  now: () => Date;
}): Sessions {
  const endOf = (createdAt: Date, at: Date): Date =>
    new Date(Math.min(at.getTime() + settings.idleMs, createdAt.getTime() + settings.maxMs));

  const prolong = async (ctx: Koa.Context, digest: string, record: SessionRecord): Promise<void> => {
    const expiresAt = endOf(record.createdAt, now());
    if (expiresAt.getTime() < record.expiresAt.getTime() + PROLONG_MS) return;
    record.expiresAt = expiresAt;
    await store.prolong(digest, expiresAt).catch((error: unknown) => {
      (ctx.state['log'] as Logger).warn({ err: error }, 'the end of a session could not be moved on');
    });
  };

  const read = async (ctx: Koa.Context, again = false): Promise<Session | null> => {
    const cookie = sessionCookie(ctx);
    if (cookie === null) return null;
    const digest = cookieDigest(cookie);
    const record = await store.find(digest, now());
    if (record === null) return null;
    const { tokenDigest, keyDigest, identity } = record;
    const userOf = async () => {
      if (identity !== undefined) {
        const known = await getUser?.(identity.userId);
        // A restored backup may have another person under the number.
        return known == null || known.external_user_id === identity.subject ? known : null;
      }
      return tokenDigest === null ? undefined : findUser?.(tokenDigest);
    };
    const [user, holder] = await Promise.all([
      userOf(),
      keyDigest === null || findHolder === undefined ? undefined : findHolder(ctx, keyDigest),
    ]);
    if (user === null || holder === null) {
      await store.remove(digest);
      return null;
    }
    if (!again) await prolong(ctx, digest, record);
    return { cookie, record, user: user ?? null, holder: holder ?? null };
  };

  return {
    read: (ctx) => read(ctx),
    async identify(ctx, { again = false } = {}) {
      const session = await read(ctx, again);
      if (session === null) return null;
      if (
        !isReading(ctx.method) &&
        !isTold(ctx) &&
        !isSame(ctx.get('X-CSRF-Token'), csrfToken(session.cookie))
      )
        throw new AppError('AUTH_ERROR', 'X-CSRF-Token is missing or not that of the session', {
          plain: true,
        });
      // Of one person, although no cache can tell by the Authorization header.
      ctx.set('Cache-Control', 'no-store');
      return session;
    },
    async open(who, former) {
      const at = now();
      const { user, tokenDigest, identity } =
        former === null || who.user !== null ? who : { ...former, ...former.record };
      const { holder, keyDigest } =
        former === null || who.keyDigest !== null ? who : { ...former, ...former.record };
      // What is taken over ends no later for it.
      const takesOver = user !== who.user || keyDigest !== who.keyDigest;
      const createdAt = takesOver && former !== null ? former.record.createdAt : at;
      const record: SessionRecord = {
        tokenDigest,
        ...(identity !== undefined && { identity }),
        keyDigest,
        createdAt,
        expiresAt: endOf(createdAt, at),
      };
      // Never under the cookie that came: another site may have put it into the browser.
      const cookie = newCookie();
      await store.insert(cookieDigest(cookie), record);
      if (former !== null) await store.remove(cookieDigest(former.cookie));
      return { cookie, record, user, holder };
    },
    close: ({ cookie }) => store.remove(cookieDigest(cookie)),
  };
}

/** In constant time, whatever the lengths. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(Buffer.from(sha256Hex(given)), Buffer.from(sha256Hex(wanted)));
}
