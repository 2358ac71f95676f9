import { countDecisions } from '../../../../activities/signals/reading/count-decisions.js';
import type { StatisticsStore } from '../../../../activities/ports/signals.js';
import { createHourCount } from '../../../../activities/signals/hour-count.js';
import type { FakeAlertStore } from './fake-alert-store.js';
import type { Alert } from '../../../../schemas/signals/signals.js';
import { hourOf } from '../../../../schemas/signals/statistics.js';

/** Counts all alerts of a store at every question: never out of date, and nothing to recompute. */
export function createFakeStatisticsStore(
  alerts: Pick<FakeAlertStore, 'list' | 'matchedRules'>,
): StatisticsStore {
  return {
    async read(since) {
      const all = await alerts.list({ limit: Infinity, offset: 0, ...(since === null ? {} : { since }) });
      const hours = new Map<number, Alert[]>();
      for (const alert of all) {
        const hour = hourOf(new Date(alert.receivedAt)).getTime();
        hours.set(hour, [...(hours.get(hour) ?? []), alert]);
      }
      return [...hours.keys()]
        .sort((a, b) => a - b)
        .map((hour) => {
          const members = hours.get(hour) ?? [];
          const count = createHourCount(new Date(hour));
          for (const alert of members)
            count.add({
              scenario: alert.scenario,
              country: alert.geoCountryCode,
              countryName: alert.geoCountryName,
              filtered: alert.filtered === true,
              forwarded: alert.forwardedToCapi === true,
              audit: alert.localAudit === true,
              receivedAt: new Date(alert.receivedAt),
              decisions: countDecisions(JSON.parse(alert.rawJson ?? 'null')),
              matched: [],
            });
          return count.result();
        });
    },
    async ruleMatches() {
      const times = new Map<string, number[]>();
      for (const { name, receivedAt } of alerts.matchedRules())
        times.set(name, [...(times.get(name) ?? []), receivedAt.getTime()]);
      return new Map(
        [...times].map(([name, all]) => [
          name,
          { name, count: all.length, last: new Date(Math.max(...all)) },
        ]),
      );
    },
    recompute: async () => ({ counted: 0, left: false }),
    forget: async () => undefined,
  };
}
