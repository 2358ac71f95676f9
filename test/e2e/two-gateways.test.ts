import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { findProgram } from '../../deploy/local/find-program.js';
import { startProxy } from '../api/support/start-proxy.js';
import type { Proxy } from '../api/support/start-proxy.js';
import { freePort } from '../support/free-port.js';
import { sampleSignal } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { listenOnLoopback } from '../support/loopback-server.js';

/** Debian's package `haproxy`, where it is installed. */
const haproxy = findProgram('haproxy', process.env);
const withHaproxy = haproxy === null ? describe.skip : describe;

const root = fileURLToPath(new URL('../..', import.meta.url));
const config = readFileSync(join(root, 'deploy/two-gateways/haproxy.cfg'), 'utf8');

const folders: string[] = [];
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** The shipped configuration with two addresses in the place of Docker's names, and ports that are free here. */
async function localConfig(gateways: readonly number[]) {
  const documents = await freePort();
  const proxy = await freePort();
  const servers = gateways.map((port, index) => `    server gateway${index} 127.0.0.1:${port}`).join('\n');
  const text = config
    .replaceAll(/^ {4}server-template .*$/gm, servers)
    .replace(/^resolvers docker\n( .*\n)*/m, '')
    .replace(' init-addr none resolvers docker', '')
    .replace('bind :8080', `bind 127.0.0.1:${documents}`)
    .replace('bind :8081', `bind 127.0.0.1:${proxy}`);
  const folder = mkdtempSync(join(tmpdir(), 'tamis-haproxy-'));
  folders.push(folder);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, text);
  return { file, documents: `http://127.0.0.1:${documents}`, proxy: `http://127.0.0.1:${proxy}` };
}

function exit(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

async function startBalancer(gateways: readonly number[]) {
  const { file, ...addresses } = await localConfig(gateways);
  const child = spawn(haproxy ?? '', ['-db', '-f', file], { stdio: 'ignore' });
  const ended = exit(child);
  closing.push(() => {
    child.kill('SIGKILL');
    return ended;
  });
  await until('the balancer answers', async () =>
    fetch(`${addresses.proxy}/health_check`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return addresses;
}

/** A gateway that is killed in each request: it takes it and breaks off before a word of an answer. */
async function startDying(): Promise<{ port: number; taken: () => number }> {
  let taken = 0;
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      if (bytes.toString('latin1').startsWith('GET /health_check'))
        return socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      taken += 1;
      return socket.destroy();
    });
  });
  const { port } = await listenOnLoopback(server);
  closing.push(() => server.close());
  return { port, taken: () => taken };
}

async function start(): Promise<Proxy> {
  const gateway = await startProxy({ trustedProxies: ['127.0.0.1'] });
  closing.push(() => gateway.close());
  return gateway;
}

async function push(base: string, index: number): Promise<number> {
  const answer = await fetch(`${base}/v3/signals`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer a-token' },
    body: JSON.stringify(Array.from({ length: 50 }, () => sampleSignal(index))),
  });
  await answer.arrayBuffer();
  return answer.status;
}

withHaproxy('two gateways behind HAProxy', () => {
  test('the configuration is valid', async () => {
    const { file } = await localConfig([1, 2]);
    const child = spawn(haproxy ?? '', ['-c', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (said += text.toString()));
    expect([await exit(child), said]).toEqual([0, expect.not.stringMatching(/WARNING|ALERT/)]);
  });

  test('no push is lost while one gateway goes away and comes back no more', async () => {
    const [first, second] = [await startProxy(), await start()];
    const { proxy } = await startBalancer([portOf(first.url), portOf(second.url)]);
    const statuses: number[] = [];
    for (let index = 0; index < 30; index++) {
      if (index === 10) await first.close();
      statuses.push(await push(proxy, index));
    }
    expect(statuses).toEqual(statuses.map(() => 200));
  }, 30_000);

  test('a push whose gateway is killed in the middle goes to the other one', async () => {
    const dying = await startDying();
    const other = await start();
    const { proxy } = await startBalancer([dying.port, portOf(other.url)]);
    const statuses = await Promise.all(Array.from({ length: 10 }, (_, index) => push(proxy, index)));
    expect(statuses).toEqual(statuses.map(() => 200));
    expect(dying.taken()).toBeGreaterThan(0);
  }, 30_000);

  test('a request of a client or an administrator is not sent twice', async () => {
    const dying = await startDying();
    const { proxy, documents } = await startBalancer([dying.port]);
    for (const [index, url] of [`${documents}/users/`, `${proxy}/api/keys`].entries()) {
      // The balancer says 502, or breaks off as the gateway did.
      const status = await fetch(url, { method: 'POST', body: '{}' }).then(
        (answer) => answer.status,
        () => 502,
      );
      expect([status, dying.taken()]).toEqual([502, index + 1]);
    }
  });

  test('the gateway sees where a client comes from, whatever the client says', async () => {
    const gateway = await start();
    const { proxy } = await startBalancer([portOf(gateway.url)]);
    const headers = { 'X-Forwarded-For': '203.0.113.1' };
    request(`${proxy}/v3/signals`, { method: 'POST', localAddress: '127.0.0.2', headers }).end();
    const line = (): string | undefined =>
      gateway.logLines.find((text) => text.includes('"path":"/v3/signals"'));
    await until('the request is logged', async () => line() !== undefined);
    expect(JSON.parse(line() ?? '')).toMatchObject({ status: 401, client: '127.0.0.2' });
  });
});

describe('deploy/two-gateways', () => {
  interface Service {
    ports?: string[];
    volumes?: string[];
    networks?: string[];
    environment?: Record<string, string>;
    cap_drop?: string[];
    read_only?: boolean;
    scale?: number;
  }
  interface Compose {
    services: Record<string, Service>;
    networks: Record<string, { ipam?: { config: { subnet: string }[] } } | null>;
  }
  const reset = { tag: '!reset', collection: 'seq', resolve: () => [] } as const;
  const read = (file: string): Compose =>
    parse(readFileSync(join(root, file), 'utf8'), { merge: true, customTags: [reset] }) as Compose;
  const base = read('docker-compose.yml');
  const override = read('deploy/two-gateways/docker-compose.yml');

  test('puts the balancer where the gateway was published, and two gateways behind it', () => {
    const { gateway, balancer } = override.services;
    expect(gateway).toMatchObject({ scale: 2, ports: [] });
    expect(balancer?.ports).toEqual(base.services['gateway']?.ports);
    expect(balancer).toMatchObject({ cap_drop: ['ALL'], read_only: true, networks: ['front'] });
    const [source = '', target] = balancer?.volumes?.[0]?.split(':') ?? [];
    expect([readFileSync(join(root, source), 'utf8'), target]).toEqual([
      config,
      '/usr/local/etc/haproxy/haproxy.cfg',
    ]);
  });

  test('listens and asks where the gateway listens', () => {
    const { PORT, PROXY_PORT } = base.services['gateway']?.environment ?? {};
    expect([...config.matchAll(/^ {4}bind :(\d+)$/gm)].map(([, port]) => port)).toEqual([PORT, PROXY_PORT]);
    expect(
      [...config.matchAll(/^ {4}server-template gateway \d+ (\S+)$/gm)].map(([, server]) => server),
    ).toEqual([`gateway:${PORT}`, `gateway:${PROXY_PORT}`]);
  });

  test('has the gateway believe the addresses that the balancer names, and no other network', () => {
    const [{ subnet } = { subnet: '' }] = override.networks['front']?.ipam?.config ?? [];
    expect(override.services['gateway']?.environment).toEqual({ UVICORN_FORWARDED_ALLOW_IPS: subnet });
    expect(config).toMatch(/^ {4}option forwardfor$/m);
  });
});
