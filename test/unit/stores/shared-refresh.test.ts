import { describe, expect, it } from '@jest/globals';
import { createSharedRefresh } from '../../../activities/stores/opensearch/shared-refresh.js';
import { until } from '../../support/until.js';

/** An engine whose refreshes end when they are told to. */
function engine() {
  const open: { end: () => void; fail: (error: Error) => void }[] = [];
  let asked = 0;
  return {
    asked: () => asked,
    open,
    client: {
      request: <Answer>() => {
        asked += 1;
        return new Promise<Answer>((resolve, reject) => {
          open.push({ end: () => resolve({} as Answer), fail: reject });
        });
      },
    },
  };
}

describe('a shared refresh', () => {
  it('is one for all who ask before it begins, and another for who comes later', async () => {
    const { client, open, asked } = engine();
    const refresh = createSharedRefresh(client, 'chunks');
    const first = Promise.all(Array.from({ length: 20 }, () => refresh()));
    await until('it has begun', async () => asked() === 1);
    let later = false;
    // What these wrote the running one may have missed.
    const second = Promise.all([refresh(), refresh()]).then(() => (later = true));
    open[0]!.end();
    await first;
    expect(later).toBe(false);
    await until('the other one has begun', async () => asked() === 2);
    open[1]!.end();
    await second;
    expect(asked()).toBe(2);
  });

  it('fails for all of its own, and not for the next', async () => {
    const { client, open, asked } = engine();
    const refresh = createSharedRefresh(client, 'chunks');
    const first = [refresh(), refresh()].map((each) => each.then(String, String));
    await until('it has begun', async () => asked() === 1);
    const second = refresh();
    open[0]!.fail(new Error('away'));
    expect(await Promise.all(first)).toEqual(['Error: away', 'Error: away']);
    await until('the next has begun', async () => asked() === 2);
    open[1]!.end();
    await second;
  });

  it('is left alone by who is cancelled, and goes on for the others', async () => {
    const { client, open, asked } = engine();
    const refresh = createSharedRefresh(client, 'chunks');
    const controller = new AbortController();
    const [left, stays] = [refresh(controller.signal), refresh()];
    await until('it has begun', async () => asked() === 1);
    controller.abort(new Error('cancelled'));
    await expect(left).rejects.toThrow('cancelled');
    open[0]!.end();
    await stays;
    await expect(refresh(controller.signal)).rejects.toThrow('cancelled');
    expect(asked()).toBe(1);
  });
});
