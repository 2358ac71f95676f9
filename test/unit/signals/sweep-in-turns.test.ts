import { expect, it } from '@jest/globals';
import { createForwardingActivities } from '../../../activities/signals/forwarding-activities.js';
import { createMetricsActivities } from '../../../activities/signals/metrics-activities.js';
import { sampleAlert } from '../../contracts/signals/alert-store-samples.js';
import { times } from '../../contracts/samples.js';
import { createFakeAlertStore } from '../../support/fakes/signals/fake-alert-store.js';
import { createFakeMetricsStore } from '../../support/fakes/signals/fake-metrics-store.js';
import { createScriptedForwarding } from '../../support/scripted-forwarding.js';

const NOON = Date.UTC(2026, 2, 1, 12);
/** What a sweep takes at a time. */
const SHARE = 500;

/** Watchers that all wait, the first the longest. */
function names(count: number): string[] {
  return times(count, (index) => `w-${index}`);
}

function at(index: number): Date {
  return new Date(NOON + index);
}

it.each([
  ['more than two shares', 2 * SHARE + 1],
  ['a whole share', SHARE],
  ['few', 2],
])(
  'each watcher whose signals wait is found in its turn, and then the first again: %s',
  async (_what, count) => {
    const alerts = createFakeAlertStore();
    const { deps } = createScriptedForwarding(async () => 0);
    const { watchersWaiting } = createForwardingActivities({ ...deps, alerts, now: () => at(3_600_000) });
    const waiting = names(count);
    await alerts.insert(waiting.map((watcher, index) => sampleAlert({ watcher, receivedAt: at(index) })));
    for (let round = 0; round < 2; round += 1)
      for (let from = 0; from < count; from += SHARE)
        expect(await watchersWaiting()).toEqual(waiting.slice(from, from + SHARE));
  },
);

it('each watcher whose metrics are held is found in its turn', async () => {
  const metrics = createFakeMetricsStore();
  const { deps } = createScriptedForwarding(async () => 0);
  const { watchersHolding } = createMetricsActivities({ ...deps, metrics, now: () => at(3_600_000) });
  const body = { path: 'v3/usage-metrics', bytes: Buffer.from('x'), part: false } as const;
  const waiting = names(SHARE + 1);
  for (const [index, watcher] of waiting.entries()) await metrics.hold(watcher, [body], at(index));
  expect(await watchersHolding()).toEqual(waiting.slice(0, SHARE));
  expect(await watchersHolding()).toEqual(waiting.slice(SHARE));
});
