import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createIpInfo } from '../../../../activities/signals/ip-info/ip-info.js';
import { createRdapClient } from '../../../../activities/signals/ip-info/rdap-client.js';
import { createReverseDns } from '../../../../activities/signals/ip-info/reverse-dns.js';
import { createWhoisClient } from '../../../../activities/signals/ip-info/whois-client.js';
import { openDnsStandIn, openRdapStandIn, openWhoisStandIn } from '../../../support/registry-stand-ins.js';
import { createInProcessCache } from '../../../../activities/stores/in-process-cache.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

let proxy: Proxy;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const rdap = await openRdapStandIn((path, _request, response) => {
    if (path === '/ip/8.8.8.8') response.end(JSON.stringify({ name: 'EXAMPLE', country: 'US' }));
    else response.writeHead(path === '/ip/9.9.9.9' ? 500 : 404).end();
  });
  const whois = await openWhoisStandIn((query, socket) =>
    query === '9.9.9.9' ? socket.destroy() : socket.end('netname: BY-WHOIS\n'),
  );
  const dns = await openDnsStandIn(['host.example.net']);
  const ipInfo = createIpInfo(
    {
      rdap: createRdapClient({ baseUrl: rdap.url, userAgent: 'test' }),
      whois: createWhoisClient({ server: whois.server }),
      reverse: createReverseDns({ servers: [dns.server] }),
    },
    createInProcessCache(10),
  );
  proxy = await startProxy({ adapt: () => ({ ipInfo }) });
  closers.push(() => proxy.close(), ipInfo.close, rdap.close, whois.close, dns.close);
});
afterAll(async () => {
  for (const close of closers) await close();
});

async function answer(path: string, init: Parameters<Proxy['ask']>[1] = {}) {
  const response = await proxy.ask(`/api/ip-info/${path}`, init);
  return { status: response.status, body: await response.json() };
}

describe('GET /api/ip-info/{ip}', () => {
  it('answers the names and who holds the network', async () => {
    expect(await answer('8.8.8.8')).toEqual({
      status: 200,
      body: {
        ip: '8.8.8.8',
        reverseDns: ['host.example.net'],
        whois: { netName: 'EXAMPLE', country: 'US' },
      },
    });
  });

  it('takes a range with its slash encoded, and falls back to WHOIS', async () => {
    expect(await answer('8.8.4.0%2F24')).toEqual({
      status: 200,
      body: { ip: '8.8.4.0/24', reverseDns: [], whois: { netName: 'BY-WHOIS' } },
    });
  });

  it('answers 200 with what is known when a source fails', async () => {
    expect(await answer('9.9.9.9')).toEqual({
      status: 200,
      body: {
        ip: '9.9.9.9',
        reverseDns: ['host.example.net'],
        whois: null,
        error: expect.stringMatching(/^RDAP: 127\.0\.0\.1:\d+ answered 500/),
      },
    });
  });

  it('asks for the key first', async () => {
    expect(await answer('nonsense', { key: null })).toEqual({ status: 401, body: { error: 'Unauthorized' } });
  });

  it.each([
    ['nonsense', 'Invalid IP address format'],
    ['127.1', 'Invalid IP address format'],
    ['8.8.8.8%2F33', 'Invalid IP address format'],
    ['fe80::1%25eth0', 'Invalid IP address format'],
    ['x'.repeat(65), 'params/ip must NOT have more than 64 characters'],
    ['', 'params/ip must NOT have fewer than 1 characters'],
  ])('refuses %j', async (ip, error) => {
    expect(await answer(ip)).toEqual({ status: 400, body: { error } });
  });

  it('is 404 for a range whose slash is none of its name', async () => {
    expect((await answer('8.8.8.0/24', { key: null })).status).toBe(404);
  });

  it('is 500 when it cannot even ask', async () => {
    const broken = await startProxy({
      adapt: () => ({ ipInfo: { lookup: () => Promise.reject(new Error('hunter2')) } }),
    });
    const response = await broken.ask('/api/ip-info/8.8.8.8');
    expect([response.status, await response.json()]).toEqual([500, { error: 'Failed to get IP info' }]);
    await broken.close();
  });
});
