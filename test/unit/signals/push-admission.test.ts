import { describe, expect, test } from '@jest/globals';
import { createPushAdmission } from '../../../api/signals/intake/push-admission.js';

/** Pushes that end when they are told to, on a clock of the test's own. */
function stage() {
  let now = 0;
  let serial = 0;
  const admission = createPushAdmission(() => now);
  const open: { end: () => void; done: Promise<void> }[] = [];
  return {
    admission,
    pass: (ms: number) => (now += ms),
    /** Answers whether it was let in; each comes from an address of its own unless one is named. */
    push(address = `address ${(serial += 1)}`): boolean {
      try {
        admission.ask(address);
      } catch {
        return false;
      }
      let end = (): void => undefined;
      const held = new Promise<void>((resolve) => (end = resolve));
      open.push({ end, done: admission.store(address, () => held) });
      return true;
    },
    async endOldest(): Promise<void> {
      const oldest = open.shift();
      oldest?.end();
      await oldest?.done;
    },
    underWay: () => open.length,
  };
}

describe('admission of pushes', () => {
  test('refuses what comes beyond six tenths of a second of work, with the time to come again', () => {
    const { push, underWay } = stage();
    while (push());
    expect(underWay()).toBe(29);
  });

  test.each([20, 50, 200])('learns that %i pushes a second are stored', async (perSecond) => {
    const { push, pass, endOldest, underWay } = stage();
    for (let done = 0; done < perSecond * 15; done++) {
      while (push());
      pass(1000 / perSecond);
      await endOldest();
    }
    while (push());
    expect(underWay()).toBeGreaterThan(perSecond * 0.6 * 0.8);
    expect(underWay()).toBeLessThan(perSecond * 0.6 * 1.3 + 1);
  });

  test('a quiet time does not count as a slow one', async () => {
    const { push, pass, endOldest, underWay } = stage();
    for (let index = 0; index < 50; index++) {
      push();
      pass(20);
      await endOldest();
      pass(10_000);
    }
    while (push());
    expect(underWay()).toBe(29);
  });

  test('refuses while the oldest push does not end, and takes again when it has', async () => {
    const { push, pass, endOldest } = stage();
    for (let index = 0; index < 10; index++) push();
    pass(2_000);
    expect(push()).toBe(false);
    for (let index = 0; index < 5; index++) await endOldest();
    expect(push()).toBe(true);
  });

  test('lets a few in whatever was measured', async () => {
    const { push, pass, endOldest, underWay } = stage();
    for (let index = 0; index < 200; index++) {
      while (push('one'));
      pass(1_000);
      await endOldest();
    }
    while (underWay() > 0) await endOldest();
    while (push('one'));
    expect(underWay()).toBe(8);
    while (push());
    expect(underWay()).toBe(12);
  });

  test('one address leaves a third of the places to others, and several may have them all', () => {
    const { push, underWay } = stage();
    while (push('one'));
    expect(underWay()).toBe(20);
    expect(push('two')).toBe(true);
    while (push('two'));
    expect(underWay()).toBe(29);
  });

  test('an address has its places back when its pushes are done', async () => {
    const { push, endOldest, underWay } = stage();
    while (push('one'));
    while (underWay() > 0) await endOldest();
    expect(push('one')).toBe(true);
    while (push('one'));
    expect(underWay()).toBeGreaterThanOrEqual(20);
  });

  test('who was let in is stored, however many wait by then', async () => {
    const { admission, push } = stage();
    const read = await admission.read('one', () => 'signals');
    while (push());
    await expect(admission.store('one', async () => read)).resolves.toBe('signals');
  });

  test('lets other work of the event loop go on between two reads', async () => {
    const { admission } = stage();
    let rounds = 0;
    let isOver = false;
    const count = (): void => {
      rounds += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    await Promise.all(Array.from({ length: 5 }, () => admission.read('one', () => rounds)));
    isOver = true;
    expect(rounds).toBeGreaterThanOrEqual(5 * 8);
  });

  test('does not wait for rounds that others fill, but for as long as the read before took', async () => {
    const { admission, pass } = stage();
    let rounds = 0;
    let isOver = false;
    const count = (): void => {
      rounds += 1;
      pass(3);
      if (!isOver) setImmediate(count);
    };
    count();
    await Promise.all(Array.from({ length: 5 }, () => admission.read('one', () => undefined)));
    const short = rounds;
    await admission.read('one', () => pass(30));
    await admission.read('one', () => undefined);
    isOver = true;
    expect(short).toBeLessThanOrEqual(5 * 5);
    expect(rounds - short).toBeGreaterThanOrEqual(11);
  });

  test('a push that fails gives its place back', async () => {
    const admission = createPushAdmission(() => 0);
    for (let index = 0; index < 100; index++)
      await expect(admission.store('one', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(admission.store('one', async () => 'stored')).resolves.toBe('stored');
  });
});
