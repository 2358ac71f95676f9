import { describe, expect, it } from '@jest/globals';
import { createMemoryLock } from '../../../../activities/documents/parsing/memory-lock.js';

const never = new AbortController().signal;

describe('the lock of the memory', () => {
  it('are shared until one wants all of it, which waits for them and goes before later ones', async () => {
    const lock = createMemoryLock();
    const order: string[] = [];
    const first = await lock.share(never);
    const second = await lock.share(never);
    const all = lock.takeAll(never).then((letGo) => {
      order.push('all');
      return letGo;
    });
    const later = lock.share(never).then(() => order.push('later'));
    first();
    second();
    (await all)();
    await later;
    expect(order).toEqual(['all', 'later']);
  });

  it('are let go of by who waits no longer', async () => {
    const lock = createMemoryLock();
    const first = await lock.share(never);
    const stop = new AbortController();
    const waiting = lock.takeAll(stop.signal);
    const later = lock.share(never);
    stop.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    (await later)();
    first();
  });
});
