import { describe, expect, test } from '@jest/globals';
import { RestartPolicy } from '../../../deploy/local/restart-policy.js';

const MINUTE = 60_000;

describe('starting again', () => {
  test('pauses grow, and after five tries in ten minutes there is none', () => {
    const policy = new RestartPolicy();
    const pauses = [0, 1, 2, 3, 4, 5].map((minute) => {
      const pause = policy.next(minute * MINUTE);
      policy.succeeded();
      return pause;
    });
    expect(pauses).toEqual([0.5, 2, 5, 15, 30, null]);
  });

  test('tries of more than ten minutes ago do not count', () => {
    const policy = new RestartPolicy();
    for (let hour = 0; hour < 48; hour += 1) {
      expect(policy.next(hour * 60 * MINUTE)).toBe(0.5);
      policy.succeeded();
    }
  });

  test('five slow tries in a row without success are enough, however long they took', () => {
    const policy = new RestartPolicy();
    const pauses = [0, 4, 8, 12, 16, 20].map((minute) => policy.next(minute * MINUTE));
    expect(pauses.at(-1)).toBeNull();
    expect(pauses.slice(0, 5)).not.toContain(null);
  });
});
