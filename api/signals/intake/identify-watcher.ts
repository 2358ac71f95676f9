import { bearerToken, tokenExpiry, watcherOf } from '../relay/watcher-identity.js';
import type { WatcherStore } from '../../../activities/ports/signals.js';
import { NAMELESS } from '../../../schemas/signals/signals.js';
import type { Logger } from '../../logger.js';
import { withinTimeout } from './within-timeout.js';
import { sha256Hex } from '../../../schemas/sha256.js';

export interface Sender {
  watcher: string;
  /** What came with the request; null when nothing usable did. */
  token: { text: string; expiresAt: Date | null } | null;
}

/**
 * Whose signals these are: the watcher that the token's claims name, else the one that logged in with it, else a
 * digest of the whole header. What a sender brings is never sent with another sender's token.
 */
export async function identifyWatcher(
  authorization: string | undefined,
  watchers: Pick<WatcherStore, 'watcherOfToken'>,
): Promise<Sender> {
  const text = bearerToken(authorization);
  const unknown = `${NAMELESS}${sha256Hex(authorization ?? '')}`;
  if (text === null) return { watcher: unknown, token: null };
  const watcher = watcherOf(text) ?? (await watchers.watcherOfToken(sha256Hex(text))) ?? unknown;
  return { watcher, token: { text, expiresAt: tokenExpiry(text) } };
}

/** Whether CAPI took this token before, and it has not ended. Not where the store cannot be asked. */
export async function hasStanding(
  { watcher, token }: Sender,
  { watchers, now }: { watchers: Pick<WatcherStore, 'standing'>; now(): Date },
  log: Logger,
): Promise<boolean> {
  if (token === null || (token.expiresAt !== null && token.expiresAt <= now())) return false;
  const standing = watchers.standing(watcher, sha256Hex(token.text));
  return (await withinTimeout(standing, 'unknown', log, 'a token could not be looked up')) === 'accepted';
}

/** CAPI took a token that it does check, so its claims are true. To be awaited before the watcher gets the answer. */
export function noteAcceptance(
  { watcher, token }: Sender,
  watchers: Pick<WatcherStore, 'acceptToken'>,
  log: Logger,
): Promise<void> {
  return token === null
    ? Promise.resolve()
    : withinTimeout(
        watchers.acceptToken(watcher, sha256Hex(token.text)),
        undefined,
        log,
        'a token that CAPI took could not be noted',
      );
}

/**
 * CAPI answered 401 to a token that we would send with, or give out again at a login: never again. To be awaited before
 * the watcher gets this answer: a LAPI logs in at once then, and must not get the same token back.
 */
export function noteRefusal(
  authorization: string | undefined,
  watchers: Pick<WatcherStore, 'watcherOfToken' | 'token' | 'standing' | 'refuseToken'>,
  log: Logger,
): Promise<void> {
  const note = async (): Promise<void> => {
    const { watcher, token } = await identifyWatcher(authorization, watchers);
    if (token === null) return;
    const digest = sha256Hex(token.text);
    const [newest, standing] = await Promise.all([
      watchers.token(watcher),
      watchers.standing(watcher, digest),
    ]);
    // Nothing is remembered of tokens that CAPI has not accepted.
    if (newest?.digest === digest || standing === 'accepted') await watchers.refuseToken(watcher, digest);
  };
  return withinTimeout(note(), undefined, log, 'a refused token could not be noted');
}
