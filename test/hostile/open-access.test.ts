import { request } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { startGateway } from '../api/support/start-gateway.js';
import type { Gateway } from '../api/support/start-gateway.js';

let gateway: Gateway;
afterEach(() => gateway.close());

async function start(env: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({ env: { AUTH_TOKEN: '', ...env } });
}

/** Around fetch, which sets these headers itself. */
function ask(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const body = method === 'POST' ? '{"display_name":"mallory","is_admin":true}' : '';
    const sent = request(
      `${gateway.url}${path}`,
      { method, headers: { 'Content-Type': 'application/json', ...headers } },
      (answer) => {
        let text = '';
        answer.on('data', (bytes: Buffer) => (text += bytes.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject).end(body);
  });
}

async function status(...asked: Parameters<typeof ask>): Promise<number> {
  return (await ask(...asked)).status;
}

async function userNames(): Promise<string> {
  return (await ask('GET', '/users/')).text;
}

describe('without AUTH_TOKEN', () => {
  test.each([
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ])('a page of another origin makes no administrator: %j', async (headers) => {
    await start({ CORS_EXTRA_ORIGINS: '*' });
    const answer = await ask('POST', '/users/', headers);
    expect(answer).toEqual({ status: 403, text: expect.stringContaining('CORS_EXTRA_ORIGINS') });
    expect(
      gateway.logLines.some((line) => line.includes('CORS_EXTRA_ORIGINS') && line.includes('"client"')),
    ).toBe(true);
    expect(await userNames()).not.toContain('mallory');
  });

  test('every method that writes is refused to such a page, before its body is read', async () => {
    await start();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      for (const path of ['/users/1', '/partition/a', '/indexer/partition/a/file/b', '/v1/chat/completions'])
        expect([method, path, await status(method, path, { Origin: 'https://evil.example' })]).toEqual([
          method,
          path,
          403,
        ]);
  });

  test.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.1.2.3',
  ])('the host %s, a name bound anew to this address, is not answered', async (Host) => {
    await start();
    const own = { Host, Origin: `http://${Host}`, 'Sec-Fetch-Site': 'same-origin' };
    expect(await ask('GET', '/users/', own)).toEqual({
      status: 403,
      text: expect.stringContaining('ALLOWED_HOSTS'),
    });
    expect(await status('POST', '/users/', own)).toBe(403);
    expect(gateway.logLines.some((line) => line.includes(`"host":"${Host}"`))).toBe(true);
    // A load balancer's question.
    expect(await status('GET', '/health_check', { Host })).toBe(200);
  });

  test('programs on this machine go on', async () => {
    await start({ ALLOWED_HOSTS: 'tamis.internal' });
    const { port } = new URL(gateway.url);
    for (const Host of [
      '127.0.0.1',
      '127.5.5.5',
      '[::1]',
      'localhost',
      'LOCALHOST',
      'app.localhost',
      'tamis.internal',
    ])
      expect([Host, await status('POST', '/users/', { Host: `${Host}:${port}` })]).toEqual([Host, 201]);
  });

  test('pages of this origin and of named ones go on', async () => {
    await start({ CORS_EXTRA_ORIGINS: 'https://front.example' });
    const Host = new URL(gateway.url).host;
    for (const headers of [
      { Origin: `http://${Host}` },
      { Origin: `http://${Host}`, 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'none' },
      { Origin: 'https://front.example', 'Sec-Fetch-Site': 'cross-site' },
    ])
      expect([headers, await status('POST', '/users/', headers as Record<string, string>)]).toEqual([
        headers,
        201,
      ]);
  });
});

test('with AUTH_TOKEN the token decides, whatever host is named', async () => {
  await start({ AUTH_TOKEN: 'or-admin-0123456789abcdef' });
  const headers = { Host: 'tamis.example', Origin: 'https://front.example' };
  expect(await status('POST', '/users/', headers)).toBe(403);
  expect(
    await status('POST', '/users/', { ...headers, Authorization: 'Bearer or-admin-0123456789abcdef' }),
  ).toBe(201);
});
