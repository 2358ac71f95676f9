import { log } from '@temporalio/activity';
import type { Warnings } from './ask-temporal.js';

/** Warnings of what an activity calls go into its own log. */
export const ACTIVITY_WARNINGS: Warnings = {
  warn(of, words) {
    log.warn(words, { ...of });
  },
};
