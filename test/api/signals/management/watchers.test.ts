import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { sampleAlert } from '../../../contracts/signals/alert-store-samples.js';
import { times } from '../../../contracts/samples.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { until } from '../../../support/until.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

let proxy: Proxy;
let temporalAway = false;

beforeAll(async () => {
  proxy = await startProxy({
    urge: async () => {
      if (temporalAway) throw new Error('no line to Temporal');
    },
  });
  const { token } = mintToken('lapi/1');
  await proxy.push([sampleSignal(1), { scenario: 'x/no-source' }, sampleSignal(2)], { token });
});
afterAll(() => proxy.close());

async function ask(method: string, path: string, key?: string | null) {
  const response = await proxy.ask(path, { method, ...(key === undefined ? {} : { key }) });
  return { status: response.status, body: await response.json() };
}

/** The watcher's own name is no good as a name: it is known by the digest of its header. */
async function watcherName(): Promise<string> {
  return (await proxy.stores.alerts.summaries())[0]!.watcher;
}

const ENDPOINTS = [
  ['POST', '/api/forwarding/w/pause'],
  ['POST', '/api/forwarding/w/resume'],
  ['POST', '/api/forwarding/w/retry'],
  ['POST', '/api/forwarding/w/release'],
  ['POST', '/api/forwarding/w/discard'],
  ['GET', '/api/quarantine'],
  ['POST', '/api/quarantine/1/release'],
  ['POST', '/api/quarantine/1/discard'],
] as const;

describe('the endpoints that steer forwarding', () => {
  it.each(ENDPOINTS)('%s %s asks for the key', async (method, path) => {
    expect(await ask(method, path, null)).toEqual({ status: 401, body: { error: 'Unauthorized' } });
  });

  it.each(['pause', 'resume', 'retry', 'release'])(
    '%s does not know a watcher nobody has seen',
    async (word) => {
      expect(await ask('POST', `/api/forwarding/nobody/${word}`)).toEqual({
        status: 404,
        body: { error: 'Watcher not found' },
      });
      expect(await proxy.stores.watchers.get('nobody')).toBeNull();
    },
  );
});

describe('POST /api/forwarding/{watcher}/pause, resume and retry', () => {
  it('hold the queue back and let it go, also while Temporal is away', async () => {
    const watcher = await watcherName();
    const path = `/api/forwarding/${encodeURIComponent(watcher)}`;
    expect(await ask('POST', `${path}/pause`)).toEqual({
      status: 200,
      body: { watcher, paused: true, actorTold: true },
    });
    const shown = (await ask('GET', '/api/forwarding')).body as { watchers: { pausedSince: unknown }[] };
    expect(shown.watchers[0]?.pausedSince).toEqual(expect.any(String));
    expect((await ask('POST', `${path}/retry`)).status).toBe(409);

    temporalAway = true;
    expect(await ask('POST', `${path}/resume`)).toEqual({
      status: 200,
      body: { watcher, paused: false, actorTold: false },
    });
    expect((await proxy.stores.watchers.get(watcher))?.pausedAt).toBeNull();
    // A retry leaves nothing behind that somebody could find later.
    expect((await ask('POST', `${path}/retry`)).status).toBe(500);
    temporalAway = false;
    expect((await ask('POST', `${path}/retry`)).status).toBe(200);
    expect((await ask('POST', `${path}/resume`)).body).toMatchObject({ actorTold: true });
    expect(proxy.urged).toEqual([`retry ${watcher}`, `resume ${watcher}`]);
  });

  it('reaches the metrics of the watcher where some are held', async () => {
    const asked = await startProxy();
    await asked.push([sampleSignal(1)], { token: mintToken('named').token });
    const retry = async () => (await asked.ask('/api/forwarding/named/retry', { method: 'POST' })).status;
    expect(await retry()).toBe(200);
    expect(asked.urged).toEqual(['retry named']);
    const body = { path: 'v3/usage-metrics', bytes: Buffer.from('x'), part: false } as const;
    await asked.stores.metrics.hold('named', [body], new Date());
    expect(await retry()).toBe(200);
    expect(asked.urged.slice(1)).toEqual(['retry named', 'retry metrics of named']);
    await asked.close();
  });
});

describe('POST /api/forwarding/{watcher}/discard', () => {
  interface Shown {
    watchers: { watcher: string; waiting: number; canBeSent: boolean; discarded: number }[];
  }
  const open = async () => {
    const asked = await startProxy();
    const shown = async () => ((await (await asked.ask('/api/forwarding')).json()) as Shown).watchers;
    const discard = async (watcher: string, body: unknown = { reason: 'sent without a token' }) => {
      const path = `/api/forwarding/${encodeURIComponent(watcher)}/discard`;
      const response = await asked.ask(path, { method: 'POST', body });
      return { status: response.status, body: await response.json() };
    };
    return { asked, shown, discard };
  };
  /** As an earlier release stored a push without a token. */
  const tokenless = `hash:${'e3b0c442'.repeat(8)}`;

  it('gives up what waits and can never be sent, which is told apart, with a reason and a line in the log', async () => {
    const { asked, shown, discard } = await open();
    await asked.stores.alerts.insert([
      sampleAlert({ watcher: tokenless }),
      sampleAlert({ watcher: tokenless }),
      sampleAlert({ watcher: tokenless, state: 'quarantined', stateReason: 'no scenario' }),
    ]);
    await asked.push([sampleSignal(1)], { token: mintToken('named').token });
    await asked.push([sampleSignal(2)], { token: 'opaque' });
    expect((await shown()).map(({ watcher, canBeSent }) => [watcher === tokenless, canBeSent])).toEqual(
      expect.arrayContaining([
        [true, false],
        [false, true],
        [false, true],
      ]),
    );
    expect(await discard(tokenless)).toEqual({
      status: 200,
      body: { watcher: tokenless, discarded: 2, left: false, receivedUntil: expect.any(String) },
    });
    expect((await shown()).find(({ watcher }) => watcher === tokenless)).toMatchObject({
      waiting: 0,
      quarantined: 1,
      discarded: 2,
      lastDiscarded: { id: expect.any(Number), reason: 'sent without a token' },
    });
    const line = asked.logLines.find((text) => text.includes('"audit":"discard"')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      audit: 'discard',
      key: 'DASHBOARD_API_KEY',
      watcher: tokenless,
      reason: 'sent without a token',
      discarded: 2,
    });
    const receivedUntil = expect.any(String);
    expect((await discard(tokenless)).body).toEqual({
      watcher: tokenless,
      discarded: 0,
      left: false,
      receivedUntil,
    });
    const alerts = (await (await asked.ask('/api/alerts?forwardedToCapi=false')).json()) as unknown[];
    expect(alerts).toHaveLength(5);
    const stats = (await (await asked.ask('/api/stats')).json()) as { total: number; forwarded: number };
    expect([stats.total, stats.forwarded]).toEqual([5, 0]);
    await asked.close();
  });

  it('at once with another leaves each signal discarded once, and one without signals has none to give up', async () => {
    const { asked, shown, discard } = await open();
    await asked.stores.alerts.insert(times(30, () => sampleAlert({ watcher: tokenless })));
    const done = await Promise.all([discard(tokenless), discard(tokenless), discard(tokenless)]);
    expect(done.map(({ status }) => status)).toEqual([200, 200, 200]);
    const counts = done.map(({ body }) => (body as { discarded: number }).discarded);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30);
    expect(await shown()).toMatchObject([{ waiting: 0, discarded: 30 }]);
    await asked.close();
  });

  it('leaves no next attempt where nothing waits any more', async () => {
    const { asked, discard } = await open();
    const nextAttempt = async () => {
      const response = await asked.ask('/api/forwarding');
      return ((await response.json()) as { watchers: { nextAttempt: string | null }[] }).watchers[0]
        ?.nextAttempt;
    };
    await asked.push([sampleSignal(1)], { token: mintToken('named').token });
    const at = new Date('2026-11-01T08:00:00Z');
    const held = { at, cause: 'refused', status: 403, message: 'no' } as const;
    await asked.stores.watchers.recordError('named', held, new Date('2026-11-01T09:00:00Z'));
    expect(await nextAttempt()).toBe('2026-11-01T09:00:00.000Z');
    await discard('named');
    expect(await nextAttempt()).toBeNull();
    // It was that of the signals: an attempt to send metrics is written down nowhere.
    const body = { path: 'v3/usage-metrics', bytes: Buffer.from('x'), part: false } as const;
    await asked.stores.metrics.hold('named', [body], at);
    expect(await nextAttempt()).toBeNull();
    await asked.close();
  });

  it('gives up what was deferred where that is said, also while forwarding is off', async () => {
    const asked = await startProxy({ settings: { forwardEnabled: false } });
    const give = async (body: object) =>
      (await asked.ask('/api/forwarding/named/discard', { method: 'POST', body })).json();
    await asked.push([sampleSignal(1), sampleSignal(2)], { token: mintToken('named').token });
    expect((await asked.ask('/api/forwarding/named/release', { method: 'POST' })).status).toBe(409);
    const rest = { watcher: 'named', receivedUntil: expect.any(String) };
    expect(await give({ reason: 'off' })).toEqual({ ...rest, discarded: 0, left: false });
    expect(await give({ reason: 'off', deferred: true })).toEqual({
      ...rest,
      discarded: 2,
      left: false,
    });
    const { watchers } = (await (await asked.ask('/api/forwarding')).json()) as { watchers: object[] };
    expect(watchers).toMatchObject([{ deferred: 0, discarded: 2 }]);
    const refused = await asked.ask('/api/forwarding/named/discard', {
      method: 'POST',
      body: { reason: 'off', deferred: 'yes' },
    });
    expect(refused.status).toBe(400);
    await asked.close();
  });

  it('that goes on with another leaves what came after that one', async () => {
    let now = Date.now();
    const asked = await startProxy({ now: () => new Date(now) });
    const give = async (body: object) => {
      const path = '/api/forwarding/named/discard';
      return (await asked.ask(path, { method: 'POST', body: { reason: 'old', ...body } })).json();
    };
    const { token } = mintToken('named');
    await asked.push([sampleSignal(1)], { token });
    const receivedUntil = new Date(now).toISOString();
    expect(await give({})).toEqual({ watcher: 'named', discarded: 1, left: false, receivedUntil });
    now += 1;
    await asked.push([sampleSignal(2)], { token });
    const goesOn = { watcher: 'named', discarded: 0, left: false, receivedUntil };
    expect(await give({ receivedUntil })).toEqual(goesOn);
    expect(await asked.stores.alerts.nextWaiting('named', 9)).toHaveLength(1);
    // What is to come cannot be given up.
    const later = new Date(now + 60_000);
    await asked.stores.alerts.insert([sampleAlert({ watcher: 'named', receivedAt: later })]);
    expect(await give({ receivedUntil: later.toISOString() })).toEqual({
      ...goesOn,
      discarded: 1,
      receivedUntil: new Date(now).toISOString(),
    });
    expect(await asked.stores.alerts.nextWaiting('named', 9)).toHaveLength(1);
    expect(await give({ receivedUntil: 'yesterday' })).toEqual({
      error: expect.stringContaining('receivedUntil must match format "date-time"'),
    });
    await asked.close();
  });

  it.each([[{}], [{ reason: '' }], [{ reason: '  ' }], [{ reason: 'x'.repeat(501) }], [{ reason: 7 }]])(
    'asks for a reason: %j',
    async (body) => {
      const { asked, shown, discard } = await open();
      await asked.stores.alerts.insert([sampleAlert({ watcher: tokenless })]);
      expect((await discard(tokenless, body)).status).toBe(400);
      expect(await shown()).toMatchObject([{ waiting: 1, discarded: 0 }]);
      await asked.close();
    },
  );

  it('does not know a watcher nobody has seen', async () => {
    const { asked, discard } = await open();
    expect(await discard('nobody')).toEqual({ status: 404, body: { error: 'Watcher not found' } });
    await asked.close();
  });
});

describe('POST /api/forwarding/{watcher}/release', () => {
  it('sends after all what came while forwarding was off, but for what the loop guard holds', async () => {
    const off = await startProxy({ settings: { forwardEnabled: false } });
    const { token } = mintToken('w9');
    const replicated = { ...sampleSignal(3), decisions: [{ origin: 'crowdsieve-replication' }] };
    await off.push([sampleSignal(1), sampleSignal(2), replicated], { token });
    await off.stores.alerts.insert([
      sampleAlert({ watcher: 'w9', state: 'filtered' }),
      sampleAlert({ watcher: 'w8', state: 'filtered' }),
      sampleAlert({ watcher: 'w8', state: 'quarantined', stateReason: 'no scenario' }),
    ]);
    expect(await (await off.ask('/api/forwarding')).json()).toMatchObject({
      withheld: { filtered: 2, deferred: 2, withheld: 1, discarded: 0, waiting: 0, quarantined: 1 },
      watchers: [
        { watcher: 'w8', deferred: 0, withheld: 0, quarantined: 1 },
        { watcher: 'w9', deferred: 2, withheld: 1, waiting: 0 },
      ],
    });
    const release = async (proxyOf: Proxy) => {
      const answer = await proxyOf.ask('/api/forwarding/w9/release', { method: 'POST' });
      return { status: answer.status, body: await answer.json() };
    };
    expect(await release(off)).toEqual({ status: 409, body: { error: 'Forwarding is switched off' } });
    expect(await off.stores.alerts.nextWaiting('w9', 9)).toEqual([]);
    // The same stores behind a gateway that was started anew.
    const again = await startProxy({ adapt: () => off.stores });
    await again.push([sampleSignal(4)], { token });
    const before = again.woken.length;
    expect(await release(again)).toEqual({
      status: 200,
      body: { watcher: 'w9', released: 2, left: false },
    });
    // Perhaps a moment later: it was told of a push just now.
    await until('the actor is told', async () => again.woken.length > before);
    expect(again.woken.slice(before)).toEqual(['w9']);
    const waiting = await off.stores.alerts.nextWaiting('w9', 9);
    expect(waiting.map(({ id }) => id)).toEqual([7, 1, 2]);
    expect(await (await again.ask('/api/forwarding')).json()).toMatchObject({
      withheld: { filtered: 2, deferred: 0, withheld: 1, waiting: 3 },
    });
    expect((await release(again)).body).toEqual({ watcher: 'w9', released: 0, left: false });
    await Promise.all([off.close(), again.close()]);
  });
});

describe('GET /api/retention', () => {
  it('counts what would be removed and given up, and leaves it', async () => {
    const due = async (query = '') =>
      (await ask('GET', `/api/retention${query}`)).body as { records: Record<string, unknown>[] };
    const now = await due();
    expect(now.records).toEqual([
      { of: 'alerts', days: 30, before: expect.any(String), due: 0, more: false },
      { of: 'quarantine', days: 0, before: null, due: 0, more: false },
    ]);
    const old = sampleAlert({ state: 'quarantined', receivedAt: new Date(Date.now() - 8 * 86_400_000) });
    await proxy.stores.alerts.insert([old]);
    for (let look = 0; look < 2; look += 1) {
      expect((await due('?days=7')).records.at(1)).toMatchObject({ days: 7, due: 1 });
      expect((await due('?days=9')).records.at(1)).toMatchObject({ days: 9, due: 0 });
    }
    for (const days of ['0', 'x', '1.5', '36501'])
      expect([days, (await ask('GET', `/api/retention?days=${days}`)).status]).toEqual([days, 400]);
    await proxy.stores.alerts.discardQuarantined({ reason: 'seen', receivedUntil: old.receivedAt, limit: 9 });
  });
});

describe('the quarantine', () => {
  it('is listed, and each signal released or discarded once', async () => {
    const watcher = await watcherName();
    await proxy.stores.alerts.quarantine(1, 'CAPI answered 400');
    const { body } = await ask('GET', `/api/quarantine?watcher=${encodeURIComponent(watcher)}`);
    expect(body).toEqual([
      expect.objectContaining({
        id: 2,
        watcher,
        reason: 'the item has no "source" object',
        releasable: true,
      }),
      expect.objectContaining({
        id: 1,
        watcher,
        reason: 'CAPI answered 400',
        scenario: 'crowdsecurity/ssh-bf',
      }),
    ]);
    expect((await ask('GET', '/api/quarantine?watcher=nobody')).body).toEqual([]);

    const before = proxy.woken.length;
    expect(await ask('POST', '/api/quarantine/1/release')).toEqual({
      status: 200,
      body: { id: 1, state: 'waiting' },
    });
    await until('the actor is told', async () => proxy.woken.length > before);
    expect(proxy.woken.slice(before)).toEqual([watcher]);
    expect((await proxy.stores.alerts.nextWaiting(watcher, 9)).map(({ id }) => id)).toEqual([3, 1]);
    expect(await ask('POST', '/api/quarantine/2/discard')).toEqual({
      status: 200,
      body: { id: 2, state: 'discarded' },
    });
    for (const path of [
      '/api/quarantine/1/release',
      '/api/quarantine/2/discard',
      '/api/quarantine/99/discard',
    ])
      expect(await ask('POST', path)).toEqual({
        status: 404,
        body: { error: 'No such signal is quarantined' },
      });
    expect((await ask('GET', '/api/quarantine')).body).toEqual([]);
  });

  it('does not release what was too large to be kept', async () => {
    await proxy.push([{ ...sampleSignal(1), pad: 'x'.repeat(1024 * 1024) }], {
      token: mintToken('w3').token,
    });
    const { body } = await ask('GET', '/api/quarantine');
    const [{ id }] = body as [{ id: number }];
    expect(await ask('POST', `/api/quarantine/${id}/release`)).toEqual({
      status: 409,
      body: { error: 'The signal was too large to be kept and cannot be sent' },
    });
  });

  it.each([
    ['/api/quarantine?limit=0', 'querystring/limit must be >= 1'],
    ['/api/quarantine?limit=1001', 'querystring/limit must be <= 1000'],
    ['/api/quarantine?offset=-1', 'querystring/offset must be >= 0'],
    ['/api/quarantine?watcher=a&watcher=b', 'querystring/watcher must be string'],
  ])('refuses %s', async (path, error) => {
    expect(await ask('GET', path)).toEqual({ status: 400, body: { error } });
  });

  it.each(['0', 'abc', '1.5'])('refuses the id %s', async (id) => {
    expect((await ask('POST', `/api/quarantine/${id}/release`)).status).toBe(400);
  });
});
