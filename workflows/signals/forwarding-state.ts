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
}

export interface Hold {
  cause: HoldCause;
  status: number | null;
  message: string;
  /** Milliseconds since 1970. */
  untilMs: number;
  /** Ends at once when a newer token is reported. */
  untilToken: boolean;
}

export const freshState = (): ForwardingState => ({
  work: [],
  failures: 0,
  hold: null,
  forwarded: 0,
  quarantined: 0,
});

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
  return { ...reason, untilMs: nowMs + delayMs, untilToken };
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
