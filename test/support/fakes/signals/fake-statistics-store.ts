import { countDecisions } from '../../../../activities/signals/reading/count-decisions.js';
import type { AlertStore, StatisticsStore } from '../../../../activities/ports/signals.js';
import { createHourCount } from '../../../../activities/signals/hour-count.js';
import type { Alert } from '../../../../schemas/signals/signals.js';
import { hourOf } from '../../../../schemas/signals/statistics.js';

/** Counts all alerts of a store at every question: never out of date, and nothing to recompute. */
export const createFakeStatisticsStore = (alerts: Pick<AlertStore, 'list'>): StatisticsStore => ({
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
          });
        return count.result();
      });
  },
  recompute: async () => ({ counted: 0, left: false }),
  forget: async () => undefined,
});
