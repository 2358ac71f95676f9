import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

const asked: unknown[] = [];
/** Ten thousand are given up at a time, and there are more; each request is a second after the one before. */
async function server(request: Request): Promise<Response> {
  const body = (await request.json()) as { receivedUntil?: string };
  asked.push([new URL(request.url).pathname, body]);
  const { receivedUntil = `2026-11-30T10:00:0${asked.length}.000Z` } = body;
  return Response.json({ watcher: 'harbour', discarded: 10_000, left: asked.length < 3, receivedUntil });
}
Object.assign(globalThis, { window: { location: { origin: 'http://console.test' } }, fetch: server });
const { steer } = await loadWeb<{ steer(watcher: string, step: object): Promise<unknown> }>(
  'pages/signals/forwarding/steer',
);

test.each([
  ['discard', false],
  ['discard-deferred', true],
])('%s goes on up to the time of its first request', async (kind, deferred) => {
  asked.length = 0;
  await steer('harbour', { kind, reason: 'old' });
  const body = { reason: 'old', deferred };
  const path = '/api/forwarding/harbour/discard';
  const first = '2026-11-30T10:00:01.000Z';
  expect(asked[0]).toEqual([path, body]);
  expect(asked[1]).toEqual([path, { ...body, receivedUntil: first }]);
  expect(asked[2]).toEqual([path, { ...body, receivedUntil: first }]);
});
