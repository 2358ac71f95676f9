import type { SendReport } from '../../activities/signals/signal-delivery.js';
import type { HoldCause } from '../../schemas/signals/signals.js';

/** What the plan does after a batch was offered. */
export type Decision =
  | { step: 'next' }
  /** CAPI will never take this batch as it is: cut it down to the items at fault. */
  | { step: 'split' }
  /** Offer the same batch again later. */
  | {
      step: 'hold';
      cause: HoldCause;
      delayMs: number;
      /** Over at once when there is a newer token. */
      untilToken: boolean;
      /** The next failure of this kind waits longer. */
      growing: boolean;
    };

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const BACK_OFF_FIRST_MS = SECOND;
const BACK_OFF_LONGEST_MS = 5 * MINUTE;
const RATE_LIMITED_MS = MINUTE;
/** CAPI refuses an address for an hour after too many logins, and retries prolong it (wire contract, 6.2). */
const FORBIDDEN_MS = HOUR;
/** A wake tells of a new token; this is for the wake that never came. */
const TOKEN_POLL_MS = 5 * MINUTE;
/** Resuming is signalled as well; this is for a signal that was lost. */
const PAUSE_POLL_MS = 5 * MINUTE;
/** A Retry-After of a year is a fault at the other end; one request a day does no harm. */
const COOL_DOWN_LONGEST_MS = 24 * HOUR;

/** Too Early and Request Timeout ask for the same request again; every other 4xx not named below is final. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425]);

/**
 * The cause decides: a network fault or a failing server is met with a growing back-off, a limit with the cool-down
 * that CAPI asks for, a refused token by waiting until a newer one is there, and a final refusal by isolating
 * what is refused.
 *
 * @param failures how many offers in a row got no definite answer
 * @param random from 0 to 1, so that the actors of a hundred watchers do not come back in the same second
 */
// eslint-disable-next-line complexity -- one case for each outcome
export function decideDelivery(report: SendReport, failures: number, random: () => number): Decision {
  switch (report.outcome) {
    case 'accepted':
    case 'nothing':
      return { step: 'next' };
    case 'no-token':
      return untilToken('no-token');
    case 'paused':
      return fixed('paused', PAUSE_POLL_MS);
    case 'unknown':
    case 'unreachable':
      return growing('network', backOff(failures, random));
    case 'rejected':
      break;
  }
  const { status, retryAfterMs } = report;
  if (status === 401) return untilToken('unauthorized');
  if (status === 403) return fixed('forbidden', coolDown(retryAfterMs ?? FORBIDDEN_MS));
  if (status === 429) return fixed('rate-limited', coolDown(retryAfterMs ?? RATE_LIMITED_MS));
  if (status >= 400 && status < 500 && !PASSING_STATUSES.has(status)) return { step: 'split' };
  // 5xx; and a redirect, which is a fault of the configuration and not of the signals.
  return growing('server-error', Math.max(backOff(failures, random), coolDown(retryAfterMs ?? 0)));
}

function growing(cause: HoldCause, delayMs: number): Decision {
  return {
    step: 'hold',
    cause,
    delayMs,
    untilToken: false,
    growing: true,
  };
}

function fixed(cause: HoldCause, delayMs: number): Decision {
  return {
    step: 'hold',
    cause,
    delayMs,
    untilToken: false,
    growing: false,
  };
}

function untilToken(cause: HoldCause): Decision {
  return {
    step: 'hold',
    cause,
    delayMs: TOKEN_POLL_MS,
    untilToken: true,
    growing: false,
  };
}

/** 1 s doubling to 5 min, of which the upper half is left to chance. */
function backOff(failures: number, random: () => number): number {
  const full = Math.min(BACK_OFF_LONGEST_MS, BACK_OFF_FIRST_MS * 2 ** Math.min(failures, 20));
  return Math.round(full / 2 + (full / 2) * random());
}

function coolDown(ms: number): number {
  return Math.min(COOL_DOWN_LONGEST_MS, Math.max(SECOND, ms));
}
