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

/** The share of machines that CAPI never let in, under the name that it is stored by. */
const UNKNOWN_MACHINES = 'strangers';

/** The share of machines that log in although their token is good: with other scenarios than it was given for. */
const RENEWALS = 'renewals';

/** A share without a free place: how many it has, and when one is free. */
interface FullShare {
  places: number;
  free: Date;
}

/** Of the budget, so much for all renewals, for an address of machines that CAPI never let in, and for one machine. */
function shareOf(budget: number): number {
  return Math.max(2, Math.floor(budget / 3));
}

/** And so much for all those machines together; the rest is kept for the others. */
function unknownShareOf(budget: number): number {
  return Math.max(2, Math.floor(budget / 2));
}

/** Who asks: a login that could not be read has no credentials, and counts like one of an unknown machine. */
export interface LoginAttempt {
  login: Credentials | null;
  address: string;
  /** Its places in the budget, taken when it was passed on; null: none were. */
  places: TakenPlaces | null;
  /** Until when an operator exempted the machine, where the login is passed on by that; null: it is not. */
  exemptUntil: Date | null;
}

interface TakenPlaces {
  at: Date;
  shares: readonly string[];
  /** Whether CAPI had let the machine in before. */
  known: boolean;
}

/**
 * Logins share one address at CAPI, which shuts it out after some twenty of them. So a token that is still good for the
 * same watcher, password and scenarios is given out again; what goes to CAPI is counted; and while CAPI refuses our
 * address none is sent. A token that CAPI refused is never given out again. When the store cannot be asked the login is
 * passed on.
 */
export function createLoginCache(deps: LoginCacheDeps) {
  const { watchers, logins, settings, now } = deps;

  const usable = async ({ machineId, password }: Credentials): Promise<RememberedLogin | null> => {
    const known = await logins.recall(machineId, password);
    if (known === null || left(known) < USABLE_MS) return null;
    return (await watchers.standing(known.watcher, known.digest)) === 'refused' ? null : known;
  };
  const left = ({ expiresAt }: RememberedLogin): number => expiresAt.getTime() - now().getTime();

  const budgetOf = (most: number) => ({ logins: most, windowMs: settings.loginWindowMs });

  /** Takes a place in each share that the login belongs to; answers the one where there is none. */
  const reserve = async (attempt: LoginAttempt, isRenewal = false): Promise<FullShare | null> => {
    const { login, address } = attempt;
    const { loginBudget: most } = settings;
    if (most === 0) return null;
    const at = now();
    const known = login !== null && (await logins.wasTaken(login.machineId, login.password));
    const shares = known
      ? [
          [`machine ${login.machineId}`, shareOf(most)] as const,
          ...(isRenewal ? [[RENEWALS, shareOf(most)] as const] : []),
        ]
      : ([
          [UNKNOWN_MACHINES, unknownShareOf(most)],
          [`address ${address}`, shareOf(most)],
        ] as const);
    const taken: string[] = [];
    let full = { places: most, free: null as Date | null };
    for (const [share, places] of shares) {
      full = { places, free: await logins.reserveShare(share, at, budgetOf(places)) };
      if (full.free !== null) break;
      taken.push(share);
    }
    if (full.free === null) full = { places: most, free: await logins.reserve(at, budgetOf(most)) };
    const { places, free } = full;
    if (free === null) {
      attempt.places = { at, shares: taken, known };
      return null;
    }
    for (const share of taken) await logins.releaseShare(share, at);
    if (login !== null) attempt.exemptUntil = await logins.takeExemption(login.machineId, at);
    return attempt.exemptUntil === null ? { places, free } : null;
  };

  const overBudget = ({ places, free }: FullShare): Answer => {
    const { loginWindowMs: windowMs } = settings;
    const message = `Too many logins: ${places} have been passed on within ${Math.round(windowMs / 60_000)} minutes`;
    return refused({ machineId: null, status: 429, message, at: now(), until: free }, now());
  };

  /** For the management side alone: a login that was refused is refused whether this can be noted or not. */
  const noteRefused = (
    { machineId, password }: Credentials,
    { status, message }: { status: number; message: string },
    log: Logger,
  ): Promise<void> => {
    const note = async (): Promise<void> => {
      const known = await logins.wasTaken(machineId, password);
      await logins.noteRefused({ machineId, status, message, at: now() }, known);
    };
    return withinTimeout(note(), undefined, log, 'a refused login could not be listed');
  };

  /** An answer of our own, or null: the login goes to CAPI. */
  const beforeCapi = async (attempt: LoginAttempt): Promise<Answer | null> => {
    const { login } = attempt;
    if (login === null) {
      const full = await reserve(attempt);
      return full === null ? null : overBudget(full);
    }
    const { machineId, password } = login;
    const known = await usable(login);
    const isFresh = known !== null && left(known) >= FRESH_MS;
    if (isFresh && known.scenarios === scenariosOf(login)) return reused(known);
    const block = await logins.blockOf(machineId, password, now());
    if (block !== null) return known === null ? refused(block, now()) : reused(known);
    // Who has nothing goes before who has a good token.
    const full = await reserve(attempt, isFresh);
    if (full === null) return null;
    return known === null ? overBudget(full) : reused(known);
  };

  return {
    /** Who logs in; null for a body that is no login, which is passed on to CAPI. */
    read: readCredentials,

    async answerFor(attempt: LoginAttempt, log: Logger): Promise<Answer | null> {
      const own = await withinTimeout(beforeCapi(attempt), null, log, 'a login could not be looked up');
      if (own !== null && own.status !== 200 && attempt.login !== null) {
        const { error } = own.body as { error: string };
        await noteRefused(attempt.login, { status: own.status, message: error }, log);
      }
      return own;
    },

    /** CAPI got nothing of the login, and so counts none: its places are free again, or its exemption holds still. */
    neverSent({ login, places, exemptUntil }: LoginAttempt, log: Logger): Promise<void> {
      const giveBack = async (): Promise<void> => {
        if (login !== null && exemptUntil !== null)
          await logins.returnExemption(login.machineId, exemptUntil);
        if (places === null) return;
        await logins.release(places.at);
        for (const share of places.shares) await logins.releaseShare(share, places.at);
      };
      return withinTimeout(giveBack(), undefined, log, 'the places of a login could not be given back');
    },

    /** CAPI refused the login, and nothing could be given out instead. */
    refusedByCapi: (login: Credentials, status: number, log: Logger): Promise<void> =>
      noteRefused(login, { status, message: `CAPI answered ${status} to a login` }, log),

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
    accepted(request: PassedBody, answer: PassedBody, { places }: LoginAttempt, log: Logger): Promise<void> {
      const learn = async (): Promise<void> => {
        const login = await readLogin(request, answer);
        if (login === null) return;
        // Whom CAPI lets in is known from then on: its address has its place back.
        if (places !== null && !places.known)
          for (const share of places.shares) await logins.releaseShare(share, places.at);
        const digest = createHash('sha256').update(login.token).digest('hex');
        await watchers.acceptToken(login.watcher, digest);
        const { newer } = await watchers.saveToken(login.watcher, login.token, login.expiresAt);
        if (newer) deps.notify.token(login.watcher, log);
        const credentials = await readCredentials(request);
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
}

function scenariosOf({ scenarios }: Credentials): string {
  return createHash('sha256')
    .update(JSON.stringify([...new Set(scenarios)].sort()))
    .digest('hex');
}

/** As CAPI words it (wire contract, 6.2). */
function reused({ token, expiresAt }: RememberedLogin): Answer {
  return {
    ...json(200, { code: 200, expire: expiresAt.toISOString(), token }),
    headers: { 'X-Tamis-Login': 'reused' },
  };
}

function refused({ status, message, until }: LoginBlock, now: Date): Answer {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  return {
    ...json(status, { error: message, message: `${message}; not passed on before ${until.toISOString()}` }),
    headers: { 'Retry-After': String(seconds), 'X-Tamis-Login': 'held' },
  };
}
