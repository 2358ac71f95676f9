import { AppError } from '../../../schemas/app-error.js';

/** So much of one watcher is under way at once; with a further one it is asked to come back. */
const MAX_OF_A_WATCHER = 2;
export const COME_BACK_MS = 10_000;

export interface WatcherPlaces {
  /** False when the watcher has used up its places. */
  take(watcher: string): boolean;
  give(watcher: string): void;
}

export function comeBack(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', undefined, { retryAfterMs: COME_BACK_MS });
}

/** No watcher can take the memory and the time that are there for all of them. */
export function createWatcherPlaces(): WatcherPlaces {
  const taken = new Map<string, number>();
  return {
    take(watcher) {
      const others = taken.get(watcher) ?? 0;
      if (others >= MAX_OF_A_WATCHER) return false;
      taken.set(watcher, others + 1);
      return true;
    },
    give(watcher) {
      const left = (taken.get(watcher) ?? 1) - 1;
      if (left > 0) taken.set(watcher, left);
      else taken.delete(watcher);
    },
  };
}
