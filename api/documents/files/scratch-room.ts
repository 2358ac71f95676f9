import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createBodyBudget } from '../../http/body-budget.js';

/** Room of one caller where uploads are small: several at once of them, and of pages of larger files. */
const MIN_OF_CALLER = 32 * 1024 * 1024;

export interface ScratchFile {
  /** @throws AppError SERVICE_UNAVAILABLE when the caller's files, or those of all, take too much room */
  take(bytes: number): void;
}

export interface ScratchRoom {
  /** With a directory of its own, which goes with everything in it, whatever happens; so does the room. */
  use<T>(
    where: { parent: string; prefix: string; userId: number },
    work: (directory: string, room: ScratchFile) => Promise<T>,
  ): Promise<T>;
}

/**
 * Room for the files of a gateway's scratch directory, which lies on a disk that stores and other pods may share: a
 * client may take an hour to send one. Four of the largest at once, two of them of one caller.
 */
export function createScratchRoom(maxUploadBytes: number): ScratchRoom {
  const ofCaller = Math.max(2 * maxUploadBytes, MIN_OF_CALLER);
  const budget = createBodyBudget(2 * ofCaller, ofCaller);
  const roomOf = (userId: number): ScratchFile & { give(): void } => {
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
  };
  return {
    async use({ parent, prefix, userId }, work) {
      const directory = await mkdtemp(join(parent, prefix));
      const room = roomOf(userId);
      try {
        return await work(directory, room);
      } finally {
        // A write that was broken off may still be closing its file. What cannot be removed takes the room of no other.
        await rm(directory, { recursive: true, force: true, maxRetries: 5 }).finally(room.give);
      }
    },
  };
}
