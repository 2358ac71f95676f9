import type { SendReport, SignalBatch } from '../../activities/signals/signal-delivery.js';
import type { HoldCause } from '../../schemas/signals/signals.js';
import type { Decision } from './decide-delivery.js';

/** What an actor carries from run to run: plain JSON, ids only. */
export interface ForwardingState {
  /** What was taken up and is not decided, in order: one batch, or the parts of one that was refused. */
  work: SignalBatch[];
  /** Offers in a row to a CAPI that cannot be reached or fails. */
  failures: number;
  /** Why the queue stands; null while it moves. */
  hold: Hold | null;
  forwarded: number;
  quarantined: number;
  /** How many holds in a row were cut short because CAPI took signals of others; missing: none. */
  nudges?: number;
}

export interface Hold {
  cause: HoldCause;
  status: number | null;
  message: string;
  /** Milliseconds since 1970. */
  untilMs: number;
  /** Ends at once when a newer token is reported. */
  untilToken: boolean;
  /** Since when; missing in the state of a run before. */
  fromMs?: number;
  /** CAPI said itself when to come back. */
  asked?: boolean;
  /** It was cut short already. */
  nudged?: boolean;
}

export function freshState(): ForwardingState {
  return {
    work: [],
    failures: 0,
    hold: null,
    forwarded: 0,
    quarantined: 0,
  };
}

/** The hold that follows from a report. Without a token because CAPI refused it, the refusal is what people read. */
export function holdOf(
  report: SendReport,
  { cause, delayMs, untilToken }: Extract<Decision, { step: 'hold' }>,
  before: Hold | null,
  nowMs: number,
): Hold {
  const refused = report.outcome === 'no-token' && before?.cause === 'unauthorized';
  const reason = refused
    ? { cause: before.cause, status: before.status, message: before.message }
    : { cause, ...answerOf(report) };
  const asked = report.outcome === 'rejected' && report.retryAfterMs !== null;
  return { ...reason, untilMs: nowMs + delayMs, untilToken, fromMs: nowMs, ...(asked ? { asked } : {}) };
}

/** What an actor does now, for Temporal's UI. */
export function forwardingWords({
  phase,
  hold,
  ...counts
}: Pick<ForwardingState, 'hold' | 'forwarded' | 'quarantined'> & { phase: string }): string {
  const done = `${counts.forwarded} forwarded, ${counts.quarantined} quarantined`;
  return phase === 'holding' && hold !== null ? `${holdWords(hold)}; ${done}` : `${phase}; ${done}`;
}

/** Why a queue stands, and until when. */
export function holdWords({ cause, status, message, untilMs }: Hold): string {
  const answer = status === null ? message : `${status} ${message}`;
  return `waits until ${new Date(untilMs).toISOString()} (${cause}: ${answer})`;
}

/** Watchers that are told at the same moment come back within so long of each other. */
const NUDGE_SPREAD_MS = 5_000;
/** A watcher that fails again after it was told believes the next word only after so long, then after twice as long. */
const NUDGE_WAIT_MS = 30_000;

/**
 * CAPI takes signals of others: a back-off from an outage is cut short, once each. A cool-down that CAPI asked for is
 * not. Whom CAPI fails alone comes to its usual back-off after a few of these.
 */
export function nudge(state: ForwardingState, nowMs: number, random: () => number): void {
  const { hold } = state;
  if (hold === null || hold.nudged === true || hold.asked === true) return;
  if (hold.cause !== 'network' && hold.cause !== 'server-error') return;
  const before = state.nudges ?? 0;
  const wait = NUDGE_WAIT_MS * (2 ** Math.min(before, 20) - 1);
  const earliest = Math.max(nowMs, (hold.fromMs ?? nowMs) + wait);
  hold.nudged = true;
  state.nudges = before + 1;
  hold.untilMs = Math.min(hold.untilMs, earliest + Math.round(NUDGE_SPREAD_MS * random()));
}

/** What CAPI, or the line to it, said. */
export function answerOf(report: SendReport): { status: number | null; message: string } {
  switch (report.outcome) {
    case 'rejected':
      return { status: report.status, message: report.message };
    case 'unknown':
    case 'unreachable':
      return { status: null, message: report.message };
    case 'no-token':
      return { status: null, message: 'No login of this watcher has passed by yet.' };
    case 'paused':
      return { status: null, message: 'An operator holds the signals of this watcher back.' };
    case 'accepted':
    case 'nothing':
      return { status: null, message: '' };
  }
}

/** Two parts that together are the batch, in its order. */
export function halves({ version, ids }: SignalBatch): SignalBatch[] {
  const middle = Math.ceil(ids.length / 2);
  return [
    { version, ids: ids.slice(0, middle) },
    { version, ids: ids.slice(middle) },
  ];
}
