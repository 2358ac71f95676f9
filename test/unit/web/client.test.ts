import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

function refuse(): Promise<Response> {
  return Promise.resolve(new Response('{}', { status: 403 }));
}
Object.assign(globalThis, { window: { location: { origin: 'http://console.test' } }, fetch: refuse });
const { send, onRefused } = await loadWeb<{
  send(path: string, init?: RequestInit): Promise<Response>;
  onRefused(listener: () => void): void;
}>('api/client');

test('the session is asked again after a refusal, also after one to sign out', async () => {
  let asked = 0;
  onRefused(() => (asked += 1));
  for (const [path, method, times] of [
    ['/users/', 'POST', 1],
    ['/app/session', 'DELETE', 2],
    // These say by themselves who is signed in.
    ['/app/session', 'GET', 2],
    ['/app/session', 'POST', 2],
  ] as const) {
    await expect(send(path, { method })).rejects.toMatchObject({ status: 403 });
    expect(asked).toBe(times);
  }
});
