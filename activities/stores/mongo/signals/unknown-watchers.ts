import type { Collection } from 'mongodb';
import type { WatcherStore } from '../../../ports/signals.js';
import { isDuplicateKey } from '../mongo-errors.js';
import { newWatcher } from './watcher-document.js';
import type { WatcherDocument } from './watcher-document.js';

/** Until when the record of an unknown watcher is kept that comes now. */
export function endOf({ at, lifetimeMs }: { at: Date; lifetimeMs: number }): Date {
  return new Date(at.getTime() + lifetimeMs);
}

/** The share of its time that an unknown watcher has left when a push gives it all of it again. */
const PROLONGED_BELOW = 0.98;
/**
 * Watchers of which CAPI has taken no token yet. Anyone can make one up, so that an address has places for a few:
 * those that came first have them, and the record goes when its time is over. Several may come for the last place at
 * once, and one may be let in or removed between two reads: each step is one guarded write, and looked at afterwards.
 */
export function createUnknownWatchers(
  watchers: Collection<WatcherDocument>,
): Pick<WatcherStore, 'admit' | 'expiredUnknownWatchers' | 'removeUnknownWatcher' | 'prolongUnknownWatcher'> {
  /** Who has the places of an address. */
  const unknownOf = (address: string, places: number) =>
    watchers
      .find({ 'stranger.address': address }, { projection: { 'stranger.until': 1 } })
      .sort({ 'stranger.since': 1, _id: 1 })
      .limit(places)
      .toArray();

  const freeAt = (places: Awaited<ReturnType<typeof unknownOf>>): Date =>
    new Date(Math.min(...places.map(({ stranger }) => stranger!.until.getTime())));

  const prolong = async (watcher: string, until: Date): Promise<boolean> => {
    const own = { _id: watcher, stranger: { $exists: true } };
    const { matchedCount } = await watchers.updateOne(own, { $set: { 'stranger.until': until } });
    return matchedCount === 1;
  };

  const admit: WatcherStore['admit'] = async (watcher, place) => {
    const { at, places, lifetimeMs } = place;
    const known = await watchers.findOne({ _id: watcher }, { projection: { stranger: 1 } });
    if (known === null) return admitNew(watcher, place);
    const { stranger } = known;
    if (stranger === undefined) return 'known';
    if (stranger.address === '') {
      const before = await unknownOf(place.address, places);
      if (before.length >= places) return freeAt(before);
      const own = { _id: watcher, 'stranger.address': '' };
      const placed = { address: place.address, since: at, until: endOf(place) };
      await watchers.updateOne(own, { $set: { stranger: placed } });
      // Several may have come for the last place.
      return admit(watcher, place);
    }
    const having = await unknownOf(stranger.address, places);
    if (!having.some(({ _id }) => _id === watcher)) {
      const now = await watchers.findOne({ _id: watcher }, { projection: { stranger: 1 } });
      const isStill = now?.stranger?.since.getTime() === stranger.since.getTime();
      // Otherwise let in or removed between the two reads, and no longer one of those who share the places.
      return isStill ? freeAt(having) : admit(watcher, place);
    }
    // A write for each of its pushes would be one too many.
    if (stranger.until.getTime() - at.getTime() > lifetimeMs * PROLONGED_BELOW) return 'unknown';
    // Otherwise let in meanwhile, or removed.
    return (await prolong(watcher, endOf(place))) ? 'unknown' : admit(watcher, place);
  };

  const admitNew: WatcherStore['admit'] = async (watcher, place) => {
    const { address, at, places } = place;
    const before = await unknownOf(address, places);
    if (before.length >= places) return freeAt(before);
    const stranger = { address, since: at, until: endOf(place) };
    try {
      await watchers.insertOne({ _id: watcher, ...newWatcher(), stranger });
    } catch (error) {
      // Another one made it at the same moment.
      if (!isDuplicateKey(error)) throw error;
      return admit(watcher, place);
    }
    const having = await unknownOf(address, places);
    if (having.some(({ _id }) => _id === watcher)) return 'unknown';
    // Several came for the last place.
    const own = { _id: watcher, token: null, 'stranger.since': at };
    const { deletedCount } = await watchers.deleteOne(own);
    return deletedCount === 1 ? freeAt(having) : admit(watcher, place);
  };

  return {
    admit,
    async expiredUnknownWatchers(at, limit) {
      const found = await watchers
        .find({ 'stranger.until': { $lte: at }, paused_at: null }, { projection: { refused: 1, token: 1 } })
        .sort({ 'stranger.until': 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id, token, refused }) => ({
        watcher: _id,
        refused: refused.length > 0 && (token === null || refused.includes(token.digest)),
      }));
    },
    async removeUnknownWatcher(watcher, at) {
      await watchers.deleteOne({ _id: watcher, 'stranger.until': { $lte: at } });
    },
    async prolongUnknownWatcher(watcher, until) {
      await prolong(watcher, until);
    },
  };
}
