import { createBodyBudget } from '../../http/body-budget.js';

/** Room of one caller where uploads are small: several at once of them, and of pages of larger files. */
const MIN_OF_CALLER = 32 * 1024 * 1024;

export interface ScratchFile {
  /** @throws AppError SERVICE_UNAVAILABLE when the caller's files, or those of all, take too much room */
  take(bytes: number): void;
  /** When the file is removed. */
  give(): void;
}

export interface ScratchRoom {
  of(userId: number): ScratchFile;
}

/**
 * Room for the files of a gateway's scratch directory, which lies on a disk that stores and other pods may share: a
 * client may take an hour to send one. Four of the largest at once, two of them of one caller.
 */
export function createScratchRoom(maxUploadBytes: number): ScratchRoom {
  const ofCaller = Math.max(2 * maxUploadBytes, MIN_OF_CALLER);
  const budget = createBodyBudget(2 * ofCaller, ofCaller);
  return {
    of(userId) {
      const caller = String(userId);
      let taken = 0;
      let removed = false;
      return {
        take(bytes) {
          // Of what was on its way, nothing is written any more.
          if (removed) return;
          // A file may be from when larger ones were taken: it has the caller's room for itself.
          const more = Math.min(bytes, ofCaller - taken);
          budget.take(caller, more);
          taken += more;
        },
        give() {
          removed = true;
          budget.give(caller, taken);
        },
      };
    },
  };
}
