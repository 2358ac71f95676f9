import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { readLogin } from '../../../api/signals/relay/watcher-identity.js';
import type { PushRecord } from '../../../deploy/stand-in-capi/push-log.js';
import { createStandInCapi } from '../../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../../deploy/stand-in-capi/create-stand-in-capi.js';

const open: StandInCapi[] = [];

async function start(options: Parameters<typeof createStandInCapi>[0] = {}): Promise<StandInCapi> {
  const standIn = await createStandInCapi(options);
  open.push(standIn);
  return standIn;
}

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function login(url: string, watcher = 'lapi'): Promise<string> {
  const sent = JSON.stringify({ machine_id: watcher, password: 'p', scenarios: [] });
  const answer = await fetch(`${url}/v3/watchers/login`, { method: 'POST', body: sent });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const read = await readLogin({ bytes: Buffer.from(sent) }, { bytes });
  expect(read).toMatchObject({ watcher });
  expect(read!.expiresAt!.getTime()).toBeGreaterThan(Date.now());
  return read!.token;
}

function push(url: string, token: string, items: unknown[], gzip = false): Promise<Response> {
  return fetch(`${url}/v3/signals`, {
    method: 'POST',
    body: gzip ? gzipSync(JSON.stringify(items)) : JSON.stringify(items),
    headers: { authorization: `Bearer ${token}`, ...(gzip ? { 'content-encoding': 'gzip' } : {}) },
  });
}

async function control<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  return (await (
    await fetch(`${url}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  ).json()) as T;
}

describe('the stand-in for CAPI', () => {
  it('answers as the real one where nothing is kept', async () => {
    const { url } = await start();
    const headers = { authorization: `Bearer ${await login(url)}` };
    const stream = await fetch(`${url}/v2/decisions/stream?startup=true`, { headers });
    expect(await stream.json()).toEqual({ new: [], deleted: [] });
    const metrics = await fetch(`${url}/v2/metrics/`, { method: 'POST', headers, body: '{}' });
    expect([metrics.status, await metrics.json()]).toEqual([200, { message: 'OK' }]);
    expect((await fetch(`${url}/v2/metrics/`, { method: 'POST' })).status).toBe(401);
    expect((await fetch(`${url}/v2/heartbeat`, { headers })).status).toBe(404);
  });

  it('takes signals, also compressed ones, and keeps them over a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stand-in-'));
    const file = join(folder, 'pushes.jsonl');
    const first = await start({ file });
    const token = await login(first.url);
    expect((await push(first.url, token, [{ a: 1 }])).status).toBe(200);
    await first.close();
    const second = await start({ file });
    // A token outlives the restart, too.
    expect((await push(second.url, token, [{ a: 2 }], true)).status).toBe(200);
    expect(second.received('lapi')).toMatchObject([
      { batch: 1, items: [{ a: 1 }], taken: true, answered: 200 },
      { batch: 2, items: [{ a: 2 }], taken: true, answered: 200 },
    ]);
    expect(second.received('other')).toEqual([]);
    await rm(folder, { recursive: true });
  });

  it('is told over HTTP how to fail, and for how many pushes', async () => {
    const { url } = await start();
    const token = await login(url);
    await control(url, 'PUT', 'behaviour', [
      { kind: 'status', status: 429, retryAfter: 5, times: 1 },
      { kind: 'marked-items', marker: 'poison' },
    ]);
    const limited = await push(url, token, [{}]);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await push(url, token, [{ x: 'poison' }])).status).toBe(400);
    expect((await push(url, token, [{ x: 'fine' }])).status).toBe(200);
    expect(await control<PushRecord[]>(url, 'GET', 'received')).toHaveLength(1);
    expect((await control<PushRecord[]>(url, 'GET', 'pushes')).map(({ fault }) => fault)).toEqual([
      'status',
      'marked-items',
      null,
    ]);
  });

  it('refuses every token until the next login', async () => {
    const standIn = await start();
    const before = await login(standIn.url);
    standIn.behave({ kind: 'unauthorized' });
    expect((await push(standIn.url, before, [])).status).toBe(401);
    expect((await push(standIn.url, await login(standIn.url), [])).status).toBe(200);
    expect((await push(standIn.url, before, [])).status).toBe(401);
  });

  it('closes its listener for a while', async () => {
    const { url } = await start();
    const token = await login(url);
    await control(url, 'POST', 'refuse', { forMs: 400 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await expect(push(url, token, [])).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect((await push(url, token, [])).status).toBe(200);
  });

  it('runs as a program that says where it listens, and ends when told', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'deploy/stand-in-capi/main.ts'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PORT: '0', NODE_OPTIONS: '' },
    });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { ready, url } = JSON.parse(line) as { ready: boolean; url: string };
    expect(ready).toBe(true);
    await login(url);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
