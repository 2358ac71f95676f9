import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { createV3Lapi } from '../support/v3-lapi.js';

let standIn: StandInCapi;
let stack: RunningStack;
let lapi: ReturnType<typeof createV3Lapi>;
/** How much was asked before the client of this test came. */
let before: number;

let rules: string;

beforeAll(async () => {
  rules = await mkdtemp(join(tmpdir(), 'tamis-rules-'));
  standIn = await createStandInCapi();
  stack = await openStack({ CAPI_URL: standIn.url, PROXY_TIMEOUT_MS: '1500', FILTERS_DIR: rules });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(async () => {
  await stack?.close();
  await standIn?.close();
  await rm(rules, { recursive: true, force: true });
}, 60_000);
beforeEach(async () => {
  standIn.behave();
  standIn.publish({ new: [], deleted: [] });
  await standIn.listen();
  before = standIn.requests().length;
  lapi = newLapi(randomBytes(24).toString('hex'));
});

function newLapi(machineId: string, disk?: { token: string | null }) {
  return createV3Lapi({ url: stack.base, machineId, ...(disk === undefined ? {} : { disk }) });
}

/** As 1.7.7 writes them: of a kind, with context where it is shared, and with the decisions that followed. */
function signals(count: number) {
  return Array.from({ length: count }, (_, index) =>
    sampleSignal(index, {
      kind: 'crowdsec',
      context: index % 2 === 0 ? null : [{ key: 'target_user', value: '["root","été"]' }],
    }),
  );
}

function arrived(): unknown[] {
  return standIn.received(lapi.machineId).flatMap(({ items }) => items);
}

function allArrive(count: number): Promise<boolean> {
  return until(`${count} signals have arrived`, async () => arrived().length >= count, { withinMs: 60_000 });
}

function group(...values: string[]) {
  return {
    scenario: 'crowdsecurity/community',
    scope: 'Ip',
    decisions: values.map((value) => ({ value, duration: '167h59m30s' })),
  };
}

describe('a local API server of 1.7 through the gateway', () => {
  it('logs in, follows the grouped decisions, and its signals arrive as they are, once and in order', async () => {
    standIn.publish({ new: [group('192.0.2.1', '192.0.2.2')], deleted: [], links: { blocklists: [] } });
    expect(await lapi.start()).toEqual({ age: null });
    standIn.publish({ new: [group('192.0.2.3')], deleted: [{ scope: 'Ip', decisions: ['192.0.2.1'] }] });
    await lapi.pull(false);
    expect(lapi.decisions()).toEqual(['Ip 192.0.2.2', 'Ip 192.0.2.3']);
    expect(standIn.requests().slice(before)).toEqual([
      'POST /v3/watchers/login',
      'POST /v3/metrics/',
      'GET /v3/decisions/stream',
      'GET /v3/decisions/stream',
    ]);

    const pushed = signals(132);
    expect(await lapi.push(pushed)).toEqual({ taken: 132, lost: 0 });
    await allArrive(132);
    expect(arrived()).toEqual(pushed);
    expect(new Set(standIn.received(lapi.machineId).map(({ version }) => version))).toEqual(new Set(['v3']));
    expect(lapi.logins()).toBe(1);
  });

  it('starts, pulls, reports and pushes while the central API is away, and all of it arrives later', async () => {
    standIn.publish({ new: [group('192.0.2.7')], deleted: [] });
    await lapi.start();
    const { copies } = stack.adapters.proxy!;
    await until('the decisions are kept', async () => (await copies.read(lapi.machineId, 'v3')) !== null);
    await standIn.refuse();

    // Without its disk it must log in, or it would not start at all.
    const again = newLapi(lapi.machineId);
    expect(await again.start()).toEqual({ age: expect.stringMatching(/^\d+$/) });
    expect(again.decisions()).toEqual(['Ip 192.0.2.7']);
    expect(again.disk.token).toBe(lapi.disk.token);
    const metrics = { lapi: { version: 'v1.7.8', of: lapi.machineId }, remediation_components: [] };
    expect(await again.usageMetrics(metrics)).toBe(true);
    const pushed = signals(60);
    expect(await again.push(pushed)).toEqual({ taken: 60, lost: 0 });
    expect(arrived()).toEqual([]);

    await standIn.listen();
    await allArrive(60);
    expect(arrived()).toEqual(pushed);
    const reported = () => standIn.posted('/usage-metrics').filter((text) => text.includes(lapi.machineId));
    await until('the metrics have arrived', async () => reported().length > 0, { withinMs: 60_000 });
    expect(reported().map((text) => JSON.parse(text) as object)).toEqual([metrics]);
  });

  it('loses nothing when the central API refuses its token: it hears of it, logs in and goes on', async () => {
    await lapi.start();
    const first = lapi.disk.token;
    standIn.behave({ kind: 'unauthorized' });
    const early = signals(10);
    expect(await lapi.push(early)).toEqual({ taken: 10, lost: 0 });
    const { watchers } = stack.adapters.proxy!;
    await until(
      'the refusal is known',
      async () => (await watchers.get(lapi.machineId))?.loginWanted === true,
    );

    const late = signals(70);
    expect(await lapi.push(late)).toEqual({ taken: 70, lost: 0 });
    expect(lapi.logins()).toBe(2);
    expect(lapi.disk.token).not.toBe(first);
    await allArrive(80);
    // The batch that was stored and then answered 401 came a second time, with the same uuids.
    expect(arrived()).toEqual([...early, ...late]);
  });

  it('goes on with the token on its disk after a restart, without a login', async () => {
    await lapi.start();
    const again = newLapi(lapi.machineId, lapi.disk);
    await again.start();
    expect(await again.push(signals(3))).toEqual({ taken: 3, lost: 0 });
    await allArrive(3);
    expect([lapi.logins(), again.logins()]).toEqual([1, 0]);
  });
});

interface Filters {
  version: string;
  rules: { name: string; matches: number }[];
  faults: { file: string; message: string }[];
}

describe('rules whose files change while the gateway runs', () => {
  const filters = async (): Promise<Filters> => {
    const headers = { 'x-api-key': stack.config.proxy.dashboardApiKey ?? '' };
    return (await (await stack.request('/api/filters', { headers })).json()) as Filters;
  };
  const rule = (scenario: string): string =>
    `name: by-hand\nfilter: { field: scenario, op: eq, value: ${scenario} }\n`;

  it('count from the next push on, and a broken file keeps its last good form', async () => {
    await lapi.start();
    const file = join(rules, '10-by-hand.yaml');
    const before = await filters();
    await writeFile(file, rule('crowdsecurity/ssh-bf'));
    await until('the rule is in force', async () => (await filters()).rules.length === 1);
    const held = signals(3);
    await lapi.push(held);

    await writeFile(file, 'name: by-hand\nfilter: { field: scenario, op: nope }\n');
    await until('the fault is shown', async () => (await filters()).faults.length === 1);
    await lapi.push(signals(2));
    const { version, rules: all, faults } = await filters();
    expect(all).toMatchObject([{ name: 'by-hand', matches: 5 }]);
    expect(faults[0]).toEqual({ file, message: expect.stringContaining('its last good form holds') });
    expect(version).not.toBe(before.version);

    await rm(file);
    await until('the rule is gone', async () => (await filters()).rules.length === 0);
    const free = signals(1);
    await lapi.push(free);
    await allArrive(1);
    expect(arrived()).toEqual(free);
  });
});
