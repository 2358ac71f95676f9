import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Logger } from '../../../../api/logger.js';
import { createForwardingNotifier, trackPushes } from '../../../../api/signals/intake/notify-forwarding.js';

const log = { warn: jest.fn() } as unknown as Logger;

/** What was told, and when; a call takes 20 ms. */
function openNotifier(fails = false) {
  const told: (readonly [watcher: string, atMs: number])[] = [];
  const from = Date.now();
  const notify = createForwardingNotifier(async (watcher) => {
    told.push([watcher, Date.now() - from]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (fails) throw new Error('no Temporal');
  }, trackPushes());
  return { told, notify: (watcher: string) => notify(watcher, log) };
}

describe('notifications', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('tells of the first push at once, of a crowd behind it once a second, and of the last push always', async () => {
    const { told, notify } = openNotifier();
    for (let push = 0; push < 250; push += 1) {
      notify('w');
      await jest.advanceTimersByTimeAsync(10);
    }
    await jest.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual([0, 1020, 2040, 3060].map((atMs) => ['w', atMs]));
  });

  it('tells at once of a push after a rest', async () => {
    const { told, notify } = openNotifier();
    notify('w');
    await jest.advanceTimersByTimeAsync(5_000);
    notify('w');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(told).toEqual([
      ['w', 0],
      ['w', 5_000],
    ]);
  });

  it('lets no watcher wait for the rest of another, and loses none of a crowd', async () => {
    const { told, notify } = openNotifier();
    const watchers = Array.from({ length: 100 }, (_, index) => `w${index}`);
    for (const watcher of watchers) notify(watcher);
    await jest.advanceTimersByTimeAsync(500);
    expect(told.map(([watcher]) => watcher)).toEqual(watchers);
    for (const watcher of watchers) notify(watcher);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(
      told
        .slice(100)
        .map(([watcher]) => watcher)
        .sort(),
    ).toEqual([...watchers].sort());
  });

  it('goes on after a call that failed', async () => {
    const { told, notify } = openNotifier(true);
    notify('w');
    await jest.advanceTimersByTimeAsync(100);
    notify('w');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(told).toHaveLength(2);
  });
});
