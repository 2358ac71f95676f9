import { describe, expect, it } from '@jest/globals';
import { createMemoryTurns } from '../../../../activities/documents/parsing/memory-turns.js';

const never = new AbortController().signal;

describe('turns at the memory', () => {
  it('are shared until one wants all of it, which waits for them and goes before later ones', async () => {
    const turns = createMemoryTurns();
    const order: string[] = [];
    const first = await turns.share(never);
    const second = await turns.share(never);
    const all = turns.takeAll(never).then((letGo) => {
      order.push('all');
      return letGo;
    });
    const later = turns.share(never).then(() => order.push('later'));
    first();
    second();
    (await all)();
    await later;
    expect(order).toEqual(['all', 'later']);
  });

  it('are let go of by who waits no longer', async () => {
    const turns = createMemoryTurns();
    const first = await turns.share(never);
    const stop = new AbortController();
    const waiting = turns.takeAll(stop.signal);
    const later = turns.share(never);
    stop.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    (await later)();
    first();
  });
});
