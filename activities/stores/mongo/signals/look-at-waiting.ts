import type { Collection } from 'mongodb';
import type { WaitingItem } from '../../../../schemas/signals/signals.js';
import type { AlertDocument } from './alert-document.js';
import { createBoundedLook } from '../bounded-look.js';

/** The oldest waiting alerts of a watcher, by position; positions are counted over all watchers. */
export function createWaitingLook(
  alerts: Collection<AlertDocument>,
): (watcher: string, limit: number) => Promise<WaitingItem[]> {
  const look = createBoundedLook(
    (watcher: string, limit, below) =>
      alerts
        .find(
          { watcher, state: 'waiting', ...(below === null ? {} : { position: { $lt: below } }) },
          { projection: { version: 1, bytes: 1, position: 1 } },
        )
        .sort({ position: 1 })
        .limit(limit)
        .toArray(),
    ({ position }) => position,
  );
  return async (watcher, limit) =>
    (await look(watcher, limit)).map(({ _id, version, bytes }) => ({ id: _id, version, bytes }));
}
