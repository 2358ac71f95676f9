import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Alert } from '../../../../schemas/signals/signals.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

/** Of each signal; 40 of them are more than one answer holds. */
const PAD = 'x'.repeat(900 * 1024);
const COUNT = 40;

let proxy: Proxy;
beforeAll(async () => {
  proxy = await startProxy();
  for (let index = 0; index < COUNT; index += 8) {
    const batch = Array.from({ length: 8 }, (_, item) => ({ ...sampleSignal(index + item), pad: PAD }));
    expect((await proxy.push(batch)).status).toBe(200);
  }
});
afterAll(() => proxy.close());

describe('GET /api/alerts with large signals', () => {
  it('lists all of them, in bounded size, and answers each whole by id', async () => {
    const text = await (await proxy.ask('/api/alerts?limit=1000')).text();
    expect(text.length).toBeLessThan(17 * 1024 * 1024);
    const alerts = JSON.parse(text) as Alert[];
    expect(alerts).toHaveLength(COUNT);
    const whole = alerts.filter(({ rawJson }) => rawJson !== null);
    expect(whole.length).toBeGreaterThan(10);
    expect(whole.length).toBeLessThan(COUNT);
    // The first ones are whole, and the rest lacks this field only.
    expect(alerts.slice(0, whole.length)).toEqual(whole);
    const last = alerts.at(-1)!;
    const alone = (await (await proxy.ask(`/api/alerts/${last.id}`)).json()) as Alert;
    expect(alone.rawJson).toContain(PAD);
    expect({ ...alone, rawJson: null }).toEqual(last);
  });
});
