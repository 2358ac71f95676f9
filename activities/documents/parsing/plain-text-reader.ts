import { createFairPlaces } from './fair-places.js';
import type { ParsedDocument, ParseJob } from './parser-messages.js';
import { startPlainTextThread } from './plain-text-thread.js';
import type { PlainTextLimits, PlainTextThread } from './plain-text-thread.js';

export interface PlainTextReader {
  /**
   * Reads a small plain text once its turn has come, users in fair turns.
   * @throws ThreadLost, or what the thread throws, or the signal's reason
   */
  read(job: ParseJob, userId: number | null, signal: AbortSignal): Promise<ParsedDocument>;
  /** A new thread for what comes next. */
  renew(): void;
  close(): Promise<void>;
}

/** One thread for all of them, which starts with the first. */
export function createPlainTextReader(limits: PlainTextLimits): PlainTextReader {
  const turns = createFairPlaces(1);
  let thread: PlainTextThread | null = null;
  let isRenewed = false;
  return {
    async read(job, userId, signal) {
      const letGo = await turns.take(userId, signal);
      try {
        if (isRenewed) await thread?.end();
        isRenewed = false;
        if (thread?.alive !== true) thread = startPlainTextThread(limits);
        return await thread.run(job, signal);
      } finally {
        letGo();
      }
    },
    renew() {
      isRenewed = true;
    },
    async close() {
      await thread?.end();
    },
  };
}
