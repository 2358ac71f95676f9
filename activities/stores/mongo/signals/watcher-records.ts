import type { Collection, UpdateFilter } from 'mongodb';
import { isDuplicateKey } from '../mongo-errors.js';
import { newWatcher } from './watcher-document.js';
import type { WatcherDocument } from './watcher-document.js';

/** A record that forwarding makes is kept for so long, unless the watcher comes again. */
const WITHOUT_PLACE_MS = 72 * 3_600_000;

/** Records that are there when they are written to. */
export interface WatcherRecords {
  ensure(watcher: string, stranger?: WatcherDocument['stranger']): Promise<void>;
  /** Of a watcher without a record nothing is known: it was removed, or the store was away while it pushed. */
  ensureUnknown(watcher: string): Promise<void>;
  update(watcher: string, change: UpdateFilter<WatcherDocument>): Promise<void>;
}

export function createWatcherRecords(watchers: Collection<WatcherDocument>): WatcherRecords {
  const ensure: WatcherRecords['ensure'] = async (watcher, stranger) => {
    const made = { ...newWatcher(), ...(stranger !== undefined && { stranger }) };
    try {
      await watchers.updateOne({ _id: watcher }, { $setOnInsert: made }, { upsert: true });
    } catch (error) {
      // Another one made it at the same moment.
      if (!isDuplicateKey(error)) throw error;
    }
  };

  const ensureUnknown = (watcher: string): Promise<void> => {
    const since = new Date();
    return ensure(watcher, { address: '', since, until: new Date(since.getTime() + WITHOUT_PLACE_MS) });
  };

  const update = async (watcher: string, change: UpdateFilter<WatcherDocument>): Promise<void> => {
    const { matchedCount } = await watchers.updateOne({ _id: watcher }, change);
    if (matchedCount === 1) return;
    await ensureUnknown(watcher);
    await watchers.updateOne({ _id: watcher }, change);
  };

  return { ensure, ensureUnknown, update };
}
