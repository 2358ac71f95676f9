import { appendFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { freePort } from '../support/free-port.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';
import { createCrowdsecLapi } from './crowdsec-lapi.js';
import type { CrowdsecLapi } from './crowdsec-lapi.js';

/** The client pushes every 30 s, the first time up to 45 s after its start. */
const ONE_PUSH_MS = 120_000;

let standIn: StandInCapi;
let stack: RunningStack;
let lapi: CrowdsecLapi;
/** How much was asked before the client of this test came. */
let before = 0;

beforeAll(async () => {
  standIn = await createStandInCapi();
  stack = await openStack({ CAPI_URL: standIn.url });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(async () => {
  await stack?.close();
  await standIn?.close();
}, 60_000);
beforeEach(async () => {
  const files = process.env['CROWDSEC_FILES'];
  if (files === undefined) throw new Error('CROWDSEC_FILES is not set: run `npm run test:crowdsec`');
  lapi = await createCrowdsecLapi({ files, capiUrl: stack.base, port: await freePort() });
  before = standIn.requests().length;
  await lapi.start();
});
afterEach(async () => {
  await lapi?.close();
  await standIn.listen();
});

function addresses(count: number, third: number): string[] {
  return Array.from({ length: count }, (_, index) => `198.18.${third}.${index + 1}`);
}

interface Signal {
  source: { value: string };
  scenario: string;
}

function arrived(): Signal[] {
  return standIn.received(lapi.watcher).flatMap(({ items }) => items as Signal[]);
}

function values(): string[] {
  return arrived().map(({ source }) => source.value);
}

/** Alerts about addresses that begin so; each test has its own. */
async function stored(...beginnings: string[]): Promise<{ value: string; forwarded: boolean }[]> {
  const found: { value: string; forwarded: boolean }[] = [];
  for await (const { sourceValue, forwardedAt } of stack.proxy.everyAlert())
    if (beginnings.some((beginning) => sourceValue?.startsWith(beginning) === true))
      found.push({ value: sourceValue!, forwarded: forwardedAt !== null });
  return found;
}

function allArrive(expected: readonly string[]): Promise<boolean> {
  return until(
    `${expected.length} signals have arrived`,
    async () => expected.every((value) => values().includes(value)),
    { withinMs: ONE_PUSH_MS, everyMs: 500 },
  );
}

describe("Debian's crowdsec through the gateway", () => {
  it('logs in, sends its metrics, asks for decisions and enrolls', async () => {
    const asked = () => standIn.requests().slice(before);
    const wanted = ['POST /v2/watchers/login', 'POST /v2/metrics/', 'GET /v2/decisions/stream'];
    await until('it has asked for all', async () => wanted.every((request) => asked().includes(request)), {
      withinMs: ONE_PUSH_MS,
      everyMs: 200,
    });
    await lapi.cscli('console', 'enroll', 'a-key-of-the-test', '--name', 'tester');
    expect(asked()).toContain('POST /v2/watchers/enroll');
    expect(lapi.logs()).not.toMatch(/level=fatal/);
  });

  it('its alerts arrive once each, in order, and what the agent reads in a log does too', async () => {
    const raised = addresses(132, 1);
    await lapi.raise(raised, 'crowdsecurity/http-probing');
    const now = new Date();
    const stamp = now.toDateString().slice(4, 10) + now.toTimeString().slice(0, 8).padStart(9);
    for (let attempt = 0; attempt < 8; attempt += 1)
      appendFileSync(
        lapi.watched,
        `${stamp} host sshd[${4000 + attempt}]: Failed password for invalid user u${attempt} from 198.18.2.1 port 22 ssh2\n`,
      );
    await allArrive([...raised, '198.18.2.1']);
    expect(values().filter((value) => value.startsWith('198.18.1.'))).toEqual(raised);
    const all = () => stored('198.18.1.', '198.18.2.');
    await until('all are marked', async () => (await all()).every(({ forwarded }) => forwarded));
    expect((await all()).map(({ value }) => value).sort()).toEqual(values().sort());
  });

  it('what it pushes while the central API is away arrives once that is back', async () => {
    await until('it has logged in', async () => lapi.logs().includes('Start pull from CrowdSec Central API'));
    await standIn.refuse();
    const raised = addresses(20, 3);
    await lapi.raise(raised, 'crowdsecurity/http-probing');
    await until('all are stored', async () => (await stored('198.18.3.')).length === raised.length, {
      withinMs: ONE_PUSH_MS,
      everyMs: 500,
    });
    expect((await stored('198.18.3.')).filter(({ forwarded }) => forwarded)).toEqual([]);
    await standIn.listen();
    await allArrive(raised);
    expect(values()).toEqual(raised);
  });

  it('what was taken before gateway and worker were killed arrives, once', async () => {
    const raised = addresses(200, 4);
    await lapi.raise(raised, 'crowdsecurity/http-probing');
    await until('a push is under way', async () => (await stored('198.18.4.')).length > 0, {
      withinMs: ONE_PUSH_MS,
      everyMs: 5,
    });
    await Promise.all([stack.killGateway(), stack.killWorker()]);
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    const manual = '198.18.5.1';
    await lapi.cscli('decisions', 'add', '--ip', manual, '--duration', '4h', '--reason', 'a test');
    await allArrive([manual]);
    const kept = (await stored('198.18.4.', manual)).map(({ value }) => value);
    await allArrive(kept);
    await until('all are marked', async () =>
      (await stored('198.18.4.', manual)).every(({ forwarded }) => forwarded),
    );
    // 1.4.6 offers a failed push no second time: what was never taken is the client's loss, nothing else may be.
    expect(values().sort()).toEqual(kept.sort());
    expect(new Set(values()).size).toBe(values().length);
  });
});
