import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connectGateway } from '../../../deploy/cli/tamis/gateway.js';
import { listenOnLoopback } from '../../support/loopback-server.js';

let server: Server;
let url: string;
let asked: IncomingHttpHeaders[] = [];
beforeAll(async () => {
  server = createServer(({ headers }, response) => {
    asked.push(headers);
    response.end('{}');
  });
  ({ url } = await listenOnLoopback(server));
});
afterAll(() => void server.close());
beforeEach(() => {
  asked = [];
});

interface Known {
  token: string | null;
  key: string | null;
  proxyUrl?: string;
}

/** Token and key as they arrive for a path. */
async function sent(path: string, { proxyUrl = url, ...known }: Known): Promise<unknown[]> {
  await connectGateway({ url, proxyUrl, ...known }, new AbortController().signal).ask('GET', path);
  return asked.flatMap((headers) => [headers.authorization, headers['x-api-key']]);
}

const BOTH = { token: 'a token', key: 'a key' };

describe('outside the management side', () => {
  test('both the token and the key are sent where both sides are at one address', async () => {
    expect(await sent('/admin/backups', BOTH)).toEqual(['Bearer a token', 'a key']);
  });

  test('the key goes alone where no token is known', async () => {
    expect(await sent('/admin/backups', { ...BOTH, token: null })).toEqual([undefined, 'a key']);
  });

  test('the token goes alone where the proxy has an address of its own', async () => {
    const proxyUrl = 'http://127.0.0.1:9';
    expect(await sent('/admin/backups', { ...BOTH, proxyUrl })).toEqual(['Bearer a token', undefined]);
  });
});

test('the management side gets the key alone', async () => {
  expect(await sent('/api/keys', BOTH)).toEqual([undefined, 'a key']);
});
