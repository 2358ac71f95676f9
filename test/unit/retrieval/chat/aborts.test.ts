import { describe, expect, it } from '@jest/globals';
import { waitsUntilAbort } from '../../../../activities/retrieval/chat/aborts.js';
import { untilLetGo } from '../../../support/collect-garbage.js';

const never = new Promise<never>(() => undefined);

describe('waitsUntilAbort', () => {
  it('gives what the work comes to, or why it failed', async () => {
    const waits = waitsUntilAbort(new AbortController().signal);
    expect(await waits.orAbort(Promise.resolve(3))).toBe(3);
    await expect(waits.orAbort(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await waits.orAbort(Promise.resolve(4))).toBe(4);
  });

  it('waits no longer once the signal aborts, nor for anything after that', async () => {
    const controller = new AbortController();
    const waits = waitsUntilAbort(controller.signal);
    const waiting = waits.orAbort(never);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(waits.orAbort(never)).rejects.toThrow('enough');
    await expect(waits.orAbort(Promise.reject(new Error('late')))).rejects.toThrow('enough');
  });

  it('is no rejection that nobody handles when the signal aborts between two waits', async () => {
    const controller = new AbortController();
    const waits = waitsUntilAbort(controller.signal);
    await waits.orAbort(Promise.resolve());
    controller.abort(new Error('between'));
    await new Promise((resolve) => setImmediate(resolve));
    waits.dispose();
  });

  it('keeps nothing of what it waited for', async () => {
    const waits = waitsUntilAbort(new AbortController().signal);
    const held: WeakRef<object>[] = [];
    for (let words = 0; words < 20; words += 1) {
      const word = { words };
      held.push(new WeakRef(word));
      await waits.orAbort(Promise.resolve(word));
    }
    await untilLetGo(held, 1);
    waits.dispose();
  });
});
