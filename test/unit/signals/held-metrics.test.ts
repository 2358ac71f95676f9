import { expect, it } from '@jest/globals';
import { createMetricsActivities } from '../../../activities/signals/metrics-activities.js';
import { createFakeMetricsStore } from '../../support/fakes/signals/fake-metrics-store.js';
import { createScriptedForwarding } from '../../support/scripted-forwarding.js';

const DAY_MS = 24 * 3_600_000;

it.each([true, false])(
  'metrics of a machine that is gone are held for 30 days: forwarding %s',
  async (enabled) => {
    const state = { at: new Date('2026-03-01T12:00:00Z') };
    const metrics = createFakeMetricsStore();
    const { deps } = createScriptedForwarding(async () => 0);
    const settings = { ...deps.settings, enabled };
    const { watchersHolding } = createMetricsActivities({ ...deps, metrics, settings, now: () => state.at });
    const body = { path: 'v3/usage-metrics', bytes: Buffer.from('x'), part: false } as const;
    await metrics.hold('gone', [body], state.at);
    state.at = new Date(state.at.getTime() + 30 * DAY_MS);
    expect(await watchersHolding()).toEqual(enabled ? ['gone'] : []);
    expect(await metrics.queues()).toMatchObject([{ watcher: 'gone', held: 1 }]);
    state.at = new Date(state.at.getTime() + 1);
    expect(await watchersHolding()).toEqual([]);
    expect(await metrics.queues()).toEqual([]);
  },
);
