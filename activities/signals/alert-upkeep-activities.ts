import { Context } from '@temporalio/activity';
import type { AlertStore, StatisticsStore } from '../ports/signals.js';

export interface AlertUpkeepActivityDeps {
  alerts: Pick<AlertStore, 'removeOld' | 'discardQuarantined'>;
  statistics: Pick<StatisticsStore, 'recompute' | 'forget'>;
}

/** Alerts that go in one write. */
const BATCH = 1_000;
/** Writes of one activity: a plan over a million alerts stays a few hundred steps long. */
const BATCHES = 20;
/** Segments of a thousand alerts that one activity counts. */
const SEGMENTS = 200;
const IN_QUARANTINE_TOO_LONG = 'in quarantine for longer than QUARANTINE_RETENTION_DAYS';

/** Activities of retention and of the hourly statistics. Each may run twice. */
export function createAlertUpkeepActivities({ alerts, statistics }: AlertUpkeepActivityDeps) {
  /** Removes alerts received at or before a time; `left` when there may be more. What waits stays. */
  const removeOldAlerts = async (beforeMs: number): Promise<{ removed: number; left: boolean }> => {
    const { cancellationSignal } = Context.current();
    let removed = 0;
    for (let batch = 0; batch < BATCHES; batch += 1) {
      cancellationSignal.throwIfAborted();
      const gone = await alerts.removeOld(new Date(beforeMs), BATCH);
      removed += gone;
      if (gone === 0) return { removed, left: false };
    }
    return { removed, left: true };
  };

  /** Gives up what was received at or before a time and is still in quarantine; `left` when there may be more. */
  const giveUpQuarantined = async (beforeMs: number): Promise<{ discarded: number; left: boolean }> => {
    const { cancellationSignal } = Context.current();
    const options = { reason: IN_QUARANTINE_TOO_LONG, receivedUntil: new Date(beforeMs), limit: BATCH };
    let discarded = 0;
    for (let batch = 0; batch < BATCHES; batch += 1) {
      cancellationSignal.throwIfAborted();
      const given = await alerts.discardQuarantined(options);
      discarded += given.discarded;
      if (!given.left) return { discarded, left: false };
    }
    return { discarded, left: true };
  };

  /** Counts the numbers of alerts that have changed, the latest first. */
  const countHours = (): Promise<{ counted: number; left: boolean }> => statistics.recompute(SEGMENTS);

  /** Removes the records of hours that hold nothing any more. */
  const forgetHours = (beforeMs: number): Promise<void> => statistics.forget(new Date(beforeMs));

  return { removeOldAlerts, giveUpQuarantined, countHours, forgetHours };
}

export type AlertUpkeepActivities = ReturnType<typeof createAlertUpkeepActivities>;
