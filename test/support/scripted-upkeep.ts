import type { AlertUpkeepActivities } from '../../activities/signals/alert-upkeep-activities.js';

/** The upkeep of the alerts as the plans see it: two rounds of everything, or what a test says. Calls are noted. */
export function createScriptedUpkeep(script: Partial<AlertUpkeepActivities> = {}) {
  const calls: { name: keyof AlertUpkeepActivities; args: unknown[] }[] = [];
  let [removals, counts] = [0, 0];
  const plain: AlertUpkeepActivities = {
    removeOldAlerts: async () => {
      removals += 1;
      return { removed: removals < 3 ? 100 : 0, left: removals < 3 };
    },
    giveUpQuarantined: async () => ({ discarded: 0, left: false }),
    countHours: async () => {
      counts += 1;
      return { counted: 10, left: counts < 2 };
    },
    forgetHours: async () => undefined,
  };
  const noted = <Name extends keyof AlertUpkeepActivities>(name: Name): AlertUpkeepActivities[Name] =>
    ((...args: unknown[]) => {
      calls.push({ name, args });
      return ((script[name] ?? plain[name]) as (...given: unknown[]) => unknown)(...args);
    }) as AlertUpkeepActivities[Name];
  const activities: AlertUpkeepActivities = {
    removeOldAlerts: noted('removeOldAlerts'),
    giveUpQuarantined: noted('giveUpQuarantined'),
    countHours: noted('countHours'),
    forgetHours: noted('forgetHours'),
  };
  return { activities, calls };
}
