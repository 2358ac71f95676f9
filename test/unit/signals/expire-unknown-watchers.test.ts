import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { createForwardingActivities } from '../../../activities/signals/forwarding-activities.js';
import { sampleAlert } from '../../contracts/signals/alert-store-samples.js';
import { createFakeAlertStore } from '../../support/fakes/signals/fake-alert-store.js';
import { DEFERRED_REASONS } from '../../../schemas/signals/signals.js';
import { createFakeWatcherStore } from '../../support/fakes/signals/fake-watcher-store.js';
import { createScriptedForwarding } from '../../support/scripted-forwarding.js';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 2, 1, 12);

/** A sweep at a time of the test's, over stores in memory. */
function open() {
  const state = { at: new Date(NOON) };
  const alerts = createFakeAlertStore();
  const watchers = createFakeWatcherStore();
  const { deps } = createScriptedForwarding(async () => 0);
  const activities = createForwardingActivities({ ...deps, alerts, watchers, now: () => state.at });
  const admit = (watcher: string) =>
    watchers.admit(watcher, { address: 'a', at: state.at, places: 9, lifetimeMs: HOUR_MS });
  const push = async (watcher: string) => {
    await admit(watcher);
    await watchers.saveToken(watcher, `token of ${watcher}`, null);
    await alerts.insert([sampleAlert({ watcher, state: 'waiting', receivedAt: state.at })]);
  };
  const refuse = (watcher: string) =>
    watchers.refuseToken(watcher, createHash('sha256').update(`token of ${watcher}`).digest('hex'));
  const names = async () => (await watchers.list()).map(({ watcher }) => watcher);
  const passes = (hours: number): void => {
    state.at = new Date(state.at.getTime() + hours * HOUR_MS);
  };
  return { activities, alerts, watchers, admit, push, refuse, names, passes };
}

it('an unknown watcher that CAPI refused leaves nothing to forward, and then no record', async () => {
  const { activities, alerts, push, refuse, names, passes } = open();
  await push('made-up');
  await refuse('made-up');
  passes(0.9);
  expect(await activities.watchersWaiting()).toEqual(['made-up']);
  passes(0.2);
  expect(await activities.watchersWaiting()).toEqual([]);
  expect(await alerts.nextWaiting('made-up', 1)).toEqual([]);
  expect(await alerts.keptBack()).toMatchObject([
    { watcher: 'made-up', discarded: 1, lastDiscarded: { reason: expect.stringContaining('never let') } },
  ]);
  expect(await names()).toEqual(['made-up']);
  await activities.watchersWaiting();
  expect(await names()).toEqual([]);
});

it('what CAPI could not be asked about goes on waiting', async () => {
  const { activities, push, refuse, names, passes } = open();
  await push('new-one');
  passes(2);
  expect(await activities.watchersWaiting()).toEqual(['new-one']);
  expect(await names()).toEqual(['new-one']);
  await refuse('new-one');
  expect(await activities.watchersWaiting()).toEqual(['new-one']);
  passes(1);
  expect(await activities.watchersWaiting()).toEqual([]);
});

it('a watcher that CAPI let in is never forgotten', async () => {
  const { activities, watchers, push, refuse, names, passes } = open();
  await push('friend');
  await watchers.recordSuccess('friend', new Date(NOON));
  await refuse('friend');
  passes(1_000);
  expect(await activities.watchersWaiting()).toEqual(['friend']);
  expect(await names()).toEqual(['friend']);
});

it('what of it is in quarantine or deferred is given up, before its record goes', async () => {
  const { activities, alerts, watchers, admit, names, passes } = open();
  const [stateReason = ''] = DEFERRED_REASONS;
  await admit('made-up');
  await admit('friend');
  await watchers.recordSuccess('friend', new Date(NOON));
  for (const watcher of ['made-up', 'friend'])
    await alerts.insert([
      sampleAlert({ watcher, state: 'quarantined', receivedAt: new Date(NOON) }),
      sampleAlert({ watcher, state: 'withheld', stateReason, receivedAt: new Date(NOON) }),
    ]);
  const kept = async () =>
    (await alerts.keptBack()).map(({ watcher, deferred, discarded }) => [watcher, deferred, discarded]);
  passes(2);
  await activities.watchersWaiting();
  expect(await kept()).toEqual([
    ['friend', 1, 0],
    ['made-up', 0, 2],
  ]);
  expect((await alerts.summaries()).map(({ watcher }) => watcher)).toEqual(['friend']);
  expect(await names()).toEqual(['friend', 'made-up']);
  await activities.watchersWaiting();
  expect(await names()).toEqual(['friend']);
});
