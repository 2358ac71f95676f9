import { createHash } from 'node:crypto';
import type { PassThroughAnswer } from './capi-pass-through.js';
import { readCredentials, readLogin } from './watcher-identity.js';
import type { Credentials, PassedBody } from './watcher-identity.js';
import { retryAfterMs } from '../../../activities/outbound/retry-after.js';
import type { LoginBlock, RememberedLogin } from '../../../activities/ports/logins.js';
import { json } from '../../http/route.js';
import type { Answer } from '../../http/route.js';
import type { Logger } from '../../logger.js';
import type { ProxyDeps } from '../proxy-deps.js';
import type { ForwardingNotifiers } from '../intake/notify-forwarding.js';
import { withinTimeout } from '../intake/within-timeout.js';

export type LoginCacheDeps = Pick<ProxyDeps, 'watchers' | 'logins' | 'settings' | 'now'> & {
  notify: ForwardingNotifiers;
};

/** A LAPI logs in again within the last minute of a token; what is given out again lasts a good while longer. */
const FRESH_MS = 5 * 60_000;
/** What there is when CAPI gives no other. */
const USABLE_MS = 90_000;
/** CAPI refuses an address for an hour after too many logins (wire contract, 8.2). */
const FORBIDDEN_MS = 3_600_000;
const RATE_LIMITED_MS = 60_000;
const MAX_MS = 24 * 3_600_000;

/**
 * Logins share one address at CAPI, which shuts it out after some twenty of them. So a token that is still good for the
 * same watcher, password and scenarios is given out again; what goes to CAPI is counted; and while CAPI refuses our
 * address none is sent. A token that CAPI refused is never given out again. When the store cannot be asked the login is
 * passed on.
 */
export const createLoginCache = (deps: LoginCacheDeps) => {
  const { watchers, logins, settings, now } = deps;

  const usable = async ({ machineId, password }: Credentials): Promise<RememberedLogin | null> => {
    const known = await logins.recall(machineId, password);
    if (known === null || left(known) < USABLE_MS) return null;
    return (await watchers.standing(known.watcher, known.digest)) === 'refused' ? null : known;
  };
  const left = ({ expiresAt }: RememberedLogin): number => expiresAt.getTime() - now().getTime();

  /** An answer of our own, or null: the login goes to CAPI. */
  const beforeCapi = async (login: Credentials): Promise<Answer | null> => {
    const { machineId, password } = login;
    const known = await usable(login);
    if (known !== null && left(known) >= FRESH_MS && known.scenarios === scenariosOf(login))
      return reused(known);
    const block = await logins.blockOf(machineId, password, now());
    if (block !== null) return known === null ? refused(block, now()) : reused(known);
    const { loginBudget: most, loginWindowMs: windowMs } = settings;
    const free = most === 0 ? null : await logins.reserve(now(), { logins: most, windowMs });
    if (free === null) return null;
    if (known !== null) return reused(known);
    const message = `Too many logins: ${most} have been passed on within ${Math.round(windowMs / 60_000)} minutes`;
    return refused({ machineId: null, status: 429, message, at: now(), until: free }, now());
  };

  return {
    /** Who logs in; null for a body that is no login, which is passed on to CAPI. */
    read: readCredentials,

    answerFor: (login: Credentials, log: Logger): Promise<Answer | null> =>
      withinTimeout(beforeCapi(login), null, log, 'a login could not be looked up'),

    /** After CAPI failed, or shut it out: what may be given out all the same, or null. */
    fallback: (login: Credentials, log: Logger): Promise<Answer | null> =>
      withinTimeout(
        usable(login).then((known) => (known === null ? null : reused(known))),
        null,
        log,
        'a login could not be looked up',
      ),

    /**
     * CAPI let the watcher in. Stored before the watcher has its answer: its signals may come with the token at once.
     */
    accepted(request: PassedBody, answer: PassedBody, log: Logger): Promise<void> {
      const learn = async (): Promise<void> => {
        const login = readLogin(request, answer);
        if (login === null) return;
        const digest = createHash('sha256').update(login.token).digest('hex');
        await watchers.acceptToken(login.watcher, digest);
        const newer = await watchers.saveToken(login.watcher, login.token, login.expiresAt);
        if (newer) deps.notify.token(login.watcher, log);
        const credentials = readCredentials(request);
        const { watcher, token, expiresAt } = login;
        if (credentials === null || expiresAt === null) return;
        const scenarios = scenariosOf(credentials);
        const { machineId, password } = credentials;
        await logins.remember(machineId, password, { watcher, token, expiresAt, scenarios }, now());
      };
      return withinTimeout(learn(), undefined, log, 'a token that passed by could not be kept');
    },

    /** CAPI refused the login: no further one is sent for a while. */
    async shutOut(login: Credentials, { status, headers }: PassThroughAnswer, log: Logger): Promise<void> {
      const asked = retryAfterMs([headers['retry-after']].flat()[0], now().getTime());
      const wait = Math.min(MAX_MS, asked ?? (status === 403 ? FORBIDDEN_MS : RATE_LIMITED_MS));
      const until = new Date(now().getTime() + wait);
      const message = `CAPI answered ${status} to a login`;
      const work = logins.block(login.machineId, login.password, { status, message, at: now(), until });
      await withinTimeout(work, undefined, log, 'a refused login could not be noted');
    },
  };
};

const scenariosOf = ({ scenarios }: Credentials): string =>
  createHash('sha256')
    .update(JSON.stringify([...new Set(scenarios)].sort()))
    .digest('hex');

/** As CAPI words it (wire contract, 6.2). */
const reused = ({ token, expiresAt }: RememberedLogin): Answer => ({
  ...json(200, { code: 200, expire: expiresAt.toISOString(), token }),
  headers: { 'X-Tamis-Login': 'reused' },
});

const refused = ({ status, message, until }: LoginBlock, now: Date): Answer => {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  return {
    ...json(status, { error: message, message: `${message}; not passed on before ${until.toISOString()}` }),
    headers: { 'Retry-After': String(seconds), 'X-Tamis-Login': 'held' },
  };
};
