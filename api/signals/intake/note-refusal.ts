import type { WatcherStore } from '../../../activities/ports/signals.js';
import type { Logger } from '../../logger.js';
import { identifyWatcher, sha256 } from './identify-watcher.js';
import { withinPatience } from './within-patience.js';

/**
 * CAPI answered 401 to a token that we would send with, or give out again at a login: never again. To be awaited before
 * the watcher hears of it: a LAPI logs in at once then, and must not get the same token back.
 */
export const noteRefusal = (
  authorization: string | undefined,
  watchers: Pick<WatcherStore, 'watcherOfToken' | 'token' | 'standing' | 'refuseToken'>,
  log: Logger,
): Promise<void> => {
  const note = async (): Promise<void> => {
    const { watcher, token } = await identifyWatcher(authorization, watchers);
    if (token === null) return;
    const digest = sha256(token.text);
    const [newest, standing] = await Promise.all([
      watchers.token(watcher),
      watchers.standing(watcher, digest),
    ]);
    // Of tokens that somebody made up nothing is remembered.
    if (newest?.digest === digest || standing === 'accepted') await watchers.refuseToken(watcher, digest);
  };
  return withinPatience(note(), undefined, log, 'a refused token could not be noted');
};
