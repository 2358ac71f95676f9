import { afterAll, beforeEach, expect, jest, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

class Page extends EventTarget {
  hidden = false;

  turn(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

let page: Page;
const { pageClock } = await loadWeb<{
  pageClock: { subscribe(listener: () => void): () => void; current(): number };
}>('shared/clock');

beforeEach(() => {
  page = new Page();
  Object.assign(globalThis, { document: page });
  jest.useFakeTimers();
});
afterAll(() => void jest.useRealTimers());

test('all times of a page are drawn anew by one timer, which ends with the last of them', () => {
  const [one, other] = [jest.fn(), jest.fn()];
  const before = pageClock.current();
  const stops = [pageClock.subscribe(one), pageClock.subscribe(other)];
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(60_000);
  expect([one.mock.calls.length, other.mock.calls.length]).toEqual([3, 3]);
  expect(pageClock.current()).toBe(before + 3);
  for (const stop of stops) stop();
  expect(jest.getTimerCount()).toBe(0);
  page.turn(false);
  expect(jest.getTimerCount()).toBe(0);
});

test('a page that is not seen rests, and is drawn at once when it is seen again', () => {
  const listener = jest.fn();
  const stop = pageClock.subscribe(listener);
  page.turn(true);
  jest.advanceTimersByTime(600_000);
  expect(listener).not.toHaveBeenCalled();
  page.turn(false);
  expect(listener).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(20_000);
  expect(listener).toHaveBeenCalledTimes(2);
  stop();
});
