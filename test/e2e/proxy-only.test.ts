import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { Stack } from '../../deploy/local/stack.js';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { signIn } from '../api/support/sign-in.js';
import { freePort } from '../support/free-port.js';
import { openStack } from '../support/running-stack.js';
import { runTamis } from '../support/run-tamis.js';
import { listenOnLoopback } from '../support/loopback-server.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { testBench } from '../unit/deploy/test-bench.js';

let capi: StandInCapi;
let stack: RunningStack;
/** In the place of OpenSearch and of the model servers: whoever comes is counted. */
let engine: Server;
/** Its address, of HTTP. */
let nowhere: string;
/** Of backups. */
let location: string;
let visitors = 0;
/** What gateway and worker are started with in a test. */
let changes: Record<string, string>;

beforeAll(async () => {
  capi = await createStandInCapi();
  engine = createServer((socket) => {
    visitors += 1;
    socket.destroy();
  });
  ({ url: nowhere } = await listenOnLoopback(engine));
  location = mkdtempSync(join(tmpdir(), 'tamis-backup-'));
  stack = await openStack({ CAPI_URL: capi.url, BACKUP_LOCATION: location });
}, 120_000);
afterAll(async () => {
  await stack?.close();
  await capi?.close();
  engine?.close();
  rmSync(location, { recursive: true, force: true });
}, 60_000);
beforeEach(() => {
  visitors = 0;
});

async function statusOf(path: string, init: RequestInit = {}, base = stack.base): Promise<number> {
  return (await stack.request(`${base}${path}`, init)).status;
}

async function push(base: string, machine: string): Promise<void> {
  const lapi = signalClient(base, machine);
  await lapi.login();
  expect((await lapi.push([sampleSignal(1), sampleSignal(2)])).status).toBe(200);
  await until(
    'the signals have arrived',
    async () => capi.received(machine).flatMap(({ items }) => items).length === 2,
    {
      withinMs: 60_000,
    },
  );
}

/** `tamis` with the key of the management side, and a token as a clone and Compose always have one. */
function tamis(on: RunningStack, ...args: string[]) {
  const key = on.config.proxy.dashboardApiKey ?? '';
  return runTamis(args, { env: { TAMIS_URL: on.base, TAMIS_TOKEN: 'of no user', TAMIS_KEY: key } });
}

const DOCUMENT_ROUTES = [
  ['GET', '/partition/'],
  ['POST', '/indexer/partition/a/file/b'],
  ['GET', '/search/partition/a?text=x'],
  ['POST', '/v1/chat/completions'],
  ['GET', '/users/info'],
] as const;

describe('a gateway and a worker of the proxy alone', () => {
  beforeAll(async () => {
    changes = {
      SERVICES: 'proxy',
      OPENSEARCH_URL: nowhere,
      OLLAMA_HOST: nowhere,
      BASE_URL: nowhere,
      MODEL: 'chat',
      EMBEDDER_BASE_URL: nowhere,
      EMBEDDER_MODEL_NAME: 'vectors',
    };
    await Promise.all([stack.startGateway(changes), stack.startWorker(changes)]);
  }, 120_000);
  afterAll(() => Promise.all([stack.killGateway(), stack.killWorker()]));

  it('are backed up and restored by a key of the management side', async () => {
    await push(stack.base, 'b'.repeat(48));
    const isSent = async (): Promise<boolean> => {
      for await (const { forwardedToCapi } of stack.proxy.everyAlert()) if (!forwardedToCapi) return false;
      return true;
    };
    await until('both are marked as sent', isSent);
    const ran = await tamis(stack, 'backup', 'run', '--watch');
    expect([ran.code, ran.err]).toEqual([0, '']);
    const { backups } = JSON.parse((await tamis(stack, 'backup', 'list', '--json')).out) as {
      backups: { backup_id: string; counts: Record<string, number> }[];
    };
    expect(backups[0]?.counts).toMatchObject({ alerts: 2 });
    expect(await statusOf('/admin/backups')).toBe(401);

    const other = await openStack({
      CAPI_URL: capi.url,
      SECRETS_KEY: stack.config.secretsKey ?? '',
      BACKUP_LOCATION: location,
    });
    try {
      await Promise.all([other.startGateway(changes), other.startWorker(changes)]);
      const restored = await tamis(other, 'restore', backups[0]?.backup_id ?? '', '--watch');
      expect([restored.code, restored.err]).toEqual([0, '']);
      const messages = [];
      for await (const { message, forwardedToCapi } of other.proxy.everyAlert())
        messages.push([message, forwardedToCapi]);
      expect(messages).toEqual([
        ['signal 2', true],
        ['signal 1', true],
      ]);
      expect(visitors).toBe(0);
    } finally {
      await other.close();
    }
  }, 180_000);

  it('take and forward signals, and never ask OpenSearch or a model server', async () => {
    await push(stack.base, 'a'.repeat(48));
    const ready = await stack.request('/ready');
    expect([ready.status, await ready.json()]).toEqual([
      200,
      expect.objectContaining({ checks: { mongodb: 'ok', postgres: 'ok', temporal: 'ok', ray: 'ok' } }),
    ]);
    expect(visitors).toBe(0);
  }, 90_000);

  it('answer document routes 404, and describe only what they serve', async () => {
    for (const [method, path] of DOCUMENT_ROUTES)
      expect([path, await statusOf(path, { method })]).toEqual([path, 404]);
    expect(await statusOf('/health_check')).toBe(200);
    const { paths } = (await (await stack.request('/openapi.json')).json()) as { paths: object };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/alerts', '/ready']));
    expect(Object.keys(paths).filter((path) => /^\/(partition|indexer|search|users)/.test(path))).toEqual([]);
  });
});

/** Of a documents route and a management route, to whoever signed in with the key. */
async function sessionStatuses(base: string): Promise<number[]> {
  const { headers } = await signIn({ url: base }, stack.config.proxy.dashboardApiKey ?? '');
  return Promise.all(
    ['/users/info', '/api/alerts'].map((path) =>
      fetch(`${base}${path}`, { headers }).then(({ status }) => status),
    ),
  );
}

describe('a gateway with PROXY_PORT', () => {
  let proxy: string;
  beforeAll(async () => {
    const port = await freePort();
    proxy = `http://127.0.0.1:${port}`;
    await Promise.all([stack.startGateway({ PROXY_PORT: String(port) }), stack.startWorker()]);
  }, 120_000);
  afterAll(() => Promise.all([stack.killGateway(), stack.killWorker()]));

  it('serves each side on its port alone', async () => {
    await push(proxy, 'b'.repeat(48));
    const key = { 'X-Api-Key': stack.config.proxy.dashboardApiKey ?? '' };
    expect(await statusOf('/api/alerts', { headers: key }, proxy)).toBe(200);
    expect(await statusOf('/partition/')).toBe(200);
    for (const [method, path] of DOCUMENT_ROUTES)
      expect([path, await statusOf(path, { method }, proxy)]).toEqual([path, 404]);
    for (const [method, path] of [
      ['POST', '/v3/signals'],
      ['POST', '/v2/watchers/login'],
      ['GET', '/v3/decisions/stream'],
      ['POST', '/v1/usage-metrics'],
      ['GET', '/api/alerts'],
      ['GET', '/health'],
    ] as const)
      expect([path, await statusOf(path, { method, headers: key })]).toEqual([path, 404]);
    for (const base of [stack.base, proxy])
      expect(await sessionStatuses(base)).toEqual(base === proxy ? [404, 200] : [403, 200]);
    for (const base of [stack.base, proxy])
      for (const probe of ['/ready', '/health_check']) expect(await statusOf(probe, {}, base)).toBe(200);
  }, 90_000);
});

test('the launcher opens no OpenSearch for the proxy alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tamis-launcher-'));
  const { MONGODB_URL = '', TEMPORAL_ADDRESS = '' } = process.env;
  const bench = {
    ...testBench(folder),
    settings: { MONGODB_URL, TEMPORAL_ADDRESS, OPENSEARCH_URL: 'http://127.0.0.1:9' },
  };
  const launcher = new Stack(bench);
  try {
    await launcher.enter('test');
    expect(await launcher.openProxyServices({ supervise: false })).toEqual({
      mongodb: MONGODB_URL,
      temporal: TEMPORAL_ADDRESS,
    });
  } finally {
    await launcher.close({});
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
