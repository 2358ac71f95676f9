import { afterEach, describe, expect, it } from '@jest/globals';
import { parseAddressOrRange } from '../../../../activities/outbound/address-or-range.js';
import { NO_IP_INFO, createIpInfo } from '../../../../activities/signals/ip-info/ip-info.js';
import type { IpInfoSources } from '../../../../activities/signals/ip-info/ip-info.js';
import { isPublicAddress } from '../../../../activities/outbound/is-public-address.js';
import { readRdapAnswer } from '../../../../activities/signals/ip-info/rdap-answer.js';
import { createRdapClient } from '../../../../activities/signals/ip-info/rdap-client.js';
import { createReverseDns } from '../../../../activities/signals/ip-info/reverse-dns.js';
import { readWhoisAnswer } from '../../../../activities/signals/ip-info/whois-answer.js';
import { createWhoisClient } from '../../../../activities/signals/ip-info/whois-client.js';
import { createInProcessCache } from '../../../../activities/stores/in-process-cache.js';
import type { WhoisFacts } from '../../../../activities/ports/ip-info.js';
import { openDnsStandIn, openRdapStandIn, openWhoisStandIn } from '../../../support/registry-stand-ins.js';

const open: { close(): Promise<void> }[] = [];

function opened<Server extends { close(): Promise<void> }>(server: Server): Server {
  open.push(server);
  return server;
}

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const RDAP = {
  objectClassName: 'ip network',
  name: 'EXAMPLE-NET',
  startAddress: '198.51.100.0',
  endAddress: '198.51.100.255',
  country: 'fr',
  cidr0_cidrs: [{ v4prefix: '198.51.100.0', length: 24 }, { length: 3 }, null],
  remarks: [{ description: ['Line one', 'line two', 7] }],
  entities: [
    { roles: ['technical'], vcardArray: ['vcard', [['fn', {}, 'text', 'Somebody']]] },
    {
      roles: ['registrant'],
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Example Ltd'],
        ],
      ],
      entities: [{ roles: ['abuse'], vcardArray: ['vcard', [['email', {}, 'text', 'abuse@example.net']]] }],
    },
  ],
};
const FACTS: WhoisFacts = {
  netName: 'EXAMPLE-NET',
  netRange: '198.51.100.0 - 198.51.100.255',
  cidr: '198.51.100.0/24',
  organization: 'Example Ltd',
  country: 'FR',
  descr: 'Line one line two',
  abuse: 'abuse@example.net',
};

describe('parseAddressOrRange', () => {
  it.each(['192.0.2.1', '2001:db8::1', '192.0.2.0/24', '2001:db8::/32', '0.0.0.0/0', '::ffff:1.2.3.4'])(
    'takes %s',
    (text) => {
      expect(parseAddressOrRange(text)).not.toBeNull();
    },
  );
  it.each(['', '192.0.2', '127.1', '0x7f.1', 'a.example', '192.0.2.1/33', '192.0.2.1/', '192.0.2.1/024'])(
    'refuses %j',
    (text) => {
      expect(parseAddressOrRange(text)).toBeNull();
    },
  );
  it.each([
    '192.0.2.1/24/1',
    '2001:db8::/129',
    'fe80::1%eth0',
    '192.0.2.1/-1',
    ' 192.0.2.1',
    '192.0.2.1/1e1',
  ])('refuses %j', (text) => {
    expect(parseAddressOrRange(text)).toBeNull();
  });
});

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '2001:4860:4860::8888', '::ffff:8.8.8.8'])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
  it.each(['10.1.2.3', '127.0.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '::1'])(
    '%s is not',
    (address) => {
      expect(isPublicAddress(address)).toBe(false);
    },
  );
  it.each(['fe80::1', 'fc00::1', '::ffff:10.0.0.1', 'localhost', ''])('%j is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('readRdapAnswer', () => {
  it('finds the facts, also in contacts inside contacts', () => {
    expect(readRdapAnswer(RDAP)).toEqual(FACTS);
  });
  it.each([null, [], 'text', {}, { name: 7, entities: 'x', remarks: [7], cidr0_cidrs: {} }])(
    'knows nothing from %j',
    (answer) => {
      expect(readRdapAnswer(answer)).toBeNull();
    },
  );
  it('is not led astray by contacts without end', () => {
    const deep = { roles: [], entities: [] as unknown[] };
    deep.entities.push(deep);
    expect(readRdapAnswer({ name: 'N', entities: [deep] })).toEqual({ netName: 'N' });
  });
});

describe('readWhoisAnswer', () => {
  it('reads what RIPE and its like write', () => {
    const text = [
      "% Abuse contact for '198.51.100.0 - 198.51.100.255' is 'abuse@example.net'",
      '',
      'inetnum:        198.51.0.0 - 198.51.255.255',
      'netname:        OUTER',
      'descr:          First',
      'country:        fr',
      '',
      'inetnum:        198.51.100.0 - 198.51.100.255',
      'netname:        INNER',
      'descr:          Second',
      'organisation:   ORG-EX1',
      'org-name:       Example Ltd',
      'route: 198.51.100.0/24',
    ].join('\r\n');
    expect(readWhoisAnswer(text)).toEqual({
      netRange: '198.51.100.0 - 198.51.100.255',
      netName: 'INNER',
      descr: 'First',
      country: 'FR',
      organization: 'Example Ltd',
      cidr: '198.51.100.0/24',
      abuse: 'abuse@example.net',
    });
  });
  it.each(['@', 'a@', 'abuse mail a', 'netname: ', ' '])('reads lines of megabytes of %j at once', (unit) => {
    const before = process.cpuUsage().user;
    readWhoisAnswer(`abuse-mail: ${unit.repeat(2_000_000)}\nnetname: NET\n`);
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(1_000);
  });

  it('reads what ARIN writes', () => {
    const text = [
      'NetRange:       192.0.2.0 - 192.0.2.255',
      'CIDR:           192.0.2.0/24',
      'NetName:        TEST',
      'OrgName:        Example Inc',
      'Country:        US',
      'OrgAbuseEmail:  abuse@example.com',
    ].join('\n');
    expect(readWhoisAnswer(text)).toEqual({
      netRange: '192.0.2.0 - 192.0.2.255',
      cidr: '192.0.2.0/24',
      netName: 'TEST',
      organization: 'Example Inc',
      country: 'US',
      abuse: 'abuse@example.com',
    });
  });
  it.each(['', '% no entries found', 'a: b\n:\n::', 'x'.repeat(100_000)])(
    'knows nothing from text %#',
    (text) => {
      expect(readWhoisAnswer(text)).toBeNull();
    },
  );
});

describe('the RDAP client', () => {
  const client = (baseUrl: string, timeoutMs = 2000) =>
    opened(createRdapClient({ baseUrl, userAgent: 'test', timeoutMs }));

  it('asks for the network, and follows a referral', async () => {
    const service = opened(
      await openRdapStandIn((path, _request, response) => {
        if (path === '/rdap/ip/198.51.100.7') response.writeHead(302, { location: '/registry/x' }).end();
        else response.end(JSON.stringify(RDAP));
      }),
    );
    expect(await client(`${service.url}rdap`).lookup('198.51.100.7')).toEqual(FACTS);
    expect(await client(`${service.url}rdap/`).lookup('198.51.100.0/24')).toEqual(FACTS);
    expect(service.asked).toEqual(['/rdap/ip/198.51.100.7', '/registry/x', '/rdap/ip/198.51.100.0/24']);
  });

  it('takes 404 for "nothing is known", and everything else for a fault', async () => {
    let status = 404;
    let body = '{}';
    const service = opened(
      await openRdapStandIn((_path, _request, response) => response.writeHead(status).end(body)),
    );
    const rdap = client(service.url);
    expect(await rdap.lookup('198.51.100.7')).toBeNull();
    for (status of [400, 429, 500]) await expect(rdap.lookup('198.51.100.7')).rejects.toThrow(String(status));
    status = 200;
    body = 'no json';
    await expect(rdap.lookup('198.51.100.7')).rejects.toThrow();
    body = ' '.repeat(1024 * 1024 + 1);
    await expect(rdap.lookup('198.51.100.7')).rejects.toThrow('too large');
  });

  it.each([
    'http://127.0.0.1:9/',
    'http://[::1]:9/',
    'http://localhost:9/',
    'http://10.0.0.1/',
    'http://x.internal:9/',
    'file:///etc/passwd',
  ])('is not referred into our own network: %s', async (location) => {
    const service = opened(
      await openRdapStandIn((_path, _request, response) => response.writeHead(302, { location }).end()),
    );
    await expect(client(service.url).lookup('198.51.100.7')).rejects.toThrow('not followed');
  });

  it('does not go round in circles, and does not wait for ever', async () => {
    const service = opened(
      await openRdapStandIn((path, _request, response) => {
        if (!path.includes('silent')) response.writeHead(302, { location: '/again' }).end();
      }),
    );
    await expect(client(service.url).lookup('198.51.100.7')).rejects.toThrow('too many referrals');
    await expect(client(`${service.url}silent`, 100).lookup('198.51.100.7')).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await expect(client('http://127.0.0.1:9/').lookup('198.51.100.7')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });
});

describe('the WHOIS client', () => {
  it('asks the registry that the first server refers to, ARIN in its own way', async () => {
    const registry = opened(await openWhoisStandIn((_query, socket) => socket.end('NetName: INNER\n')));
    let refer = 'whois.arin.net';
    const iana = opened(
      await openWhoisStandIn((_query, socket) => socket.end(`netname: IANA\nrefer:        ${refer}\n`)),
    );
    const client = createWhoisClient({ server: iana.server, locate: () => registry.server });
    expect(await client.lookup('192.0.2.1')).toEqual({ netName: 'INNER' });
    refer = 'WHOIS.RIPE.NET';
    expect(await client.lookup('192.0.2.2')).toEqual({ netName: 'INNER' });
    refer = 'evil.example';
    expect(await client.lookup('192.0.2.3')).toEqual({ netName: 'IANA' });
    expect(iana.asked).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    expect(registry.asked).toEqual(['n + 192.0.2.1', '192.0.2.2']);
  });

  it('cuts off what is too much or too slow, and keeps what came', async () => {
    const flood = opened(
      await openWhoisStandIn((_query, socket) => {
        socket.write('netname: FLOOD\n');
        const more = (): void => {
          while (socket.writable && socket.write('x'.repeat(60_000)));
        };
        socket.on('drain', more);
        more();
      }),
    );
    expect(await createWhoisClient({ server: flood.server }).lookup('192.0.2.1')).toEqual({
      netName: 'FLOOD',
    });
    const drip = opened(await openWhoisStandIn((_query, socket) => socket.write('netname: DRIP\n')));
    expect(await createWhoisClient({ server: drip.server, timeoutMs: 200 }).lookup('192.0.2.1')).toEqual({
      netName: 'DRIP',
    });
  });

  it('reads ISO 8859-1', async () => {
    const server = opened(
      await openWhoisStandIn((_query, socket) => socket.end(Buffer.from('owner: São Paulo\n', 'latin1'))),
    );
    expect(await createWhoisClient({ server: server.server }).lookup('192.0.2.1')).toEqual({
      organization: 'São Paulo',
    });
  });

  it('fails when nobody answers', async () => {
    const silent = opened(await openWhoisStandIn(() => undefined));
    await expect(
      createWhoisClient({ server: silent.server, timeoutMs: 100 }).lookup('192.0.2.1'),
    ).rejects.toThrow('in time');
    await expect(createWhoisClient({ server: '127.0.0.1:9' }).lookup('192.0.2.1')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });
});

describe('reverse DNS', () => {
  const ask = async (answer: string[] | number | null) => {
    const dns = opened(await openDnsStandIn(answer));
    return createReverseDns({ servers: [dns.server], timeoutMs: 300 }).lookup('192.0.2.1');
  };
  it('answers the names', async () => {
    expect(await ask(['a.example.net', 'b.example.net'])).toEqual(['a.example.net', 'b.example.net']);
  });
  it('asks under the name that belongs to the address', async () => {
    const dns = opened(await openDnsStandIn(['a.example.net']));
    const reverse = createReverseDns({ servers: [dns.server] });
    for (const address of ['192.0.2.1', '2001:db8::567:89ab', '::ffff:192.0.2.7'])
      await reverse.lookup(address);
    expect(dns.asked).toEqual([
      '1.2.0.192.in-addr.arpa',
      'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
      '7.2.0.192.in-addr.arpa',
    ]);
  });
  it('takes no name for no fault', async () => {
    expect(await ask(3)).toEqual([]);
  });
  it('fails when the resolver does, or is silent', async () => {
    await expect(ask(2)).rejects.toMatchObject({ code: 'ESERVFAIL' });
    await expect(ask(null)).rejects.toMatchObject({ code: expect.stringMatching(/ETIMEOUT|ECANCELLED/) });
  });
});

describe('createIpInfo', () => {
  const fault = (code: string) => () =>
    Promise.reject(Object.assign(new Error('hunter2 10.0.0.1'), { code }));
  const bench = (script: {
    rdap?: () => Promise<WhoisFacts | null>;
    whois?: () => Promise<WhoisFacts | null>;
    reverse?: () => Promise<string[]>;
  }) => {
    const asked: string[] = [];
    const noting =
      <Answer>(name: string, answer: () => Promise<Answer>) =>
      (text: string) => {
        asked.push(`${name} ${text}`);
        return answer();
      };
    const sources: IpInfoSources = {
      rdap: { lookup: noting('rdap', script.rdap ?? (async () => FACTS)), close: async () => undefined },
      whois: { lookup: noting('whois', script.whois ?? (async () => ({ netName: 'W' }))) },
      reverse: { lookup: noting('dns', script.reverse ?? (async () => ['a.example.net'])) },
    };
    let now = 0;
    const info = createIpInfo(
      sources,
      createInProcessCache(1_000, () => now),
    );
    return { info, asked, pass: (ms: number) => (now += ms) };
  };

  it('asks RDAP and the resolver, and WHOIS only when RDAP knows nothing', async () => {
    const first = bench({});
    expect(await first.info.lookup('8.8.8.8')).toEqual({ reverseDns: ['a.example.net'], whois: FACTS });
    expect(first.asked.sort()).toEqual(['dns 8.8.8.8', 'rdap 8.8.8.8']);
    const second = bench({ rdap: async () => null });
    expect(await second.info.lookup('8.8.8.8')).toMatchObject({ whois: { netName: 'W' } });
    const third = bench({ rdap: fault('ECONNREFUSED') });
    expect(await third.info.lookup('8.8.8.8')).toEqual({
      reverseDns: ['a.example.net'],
      whois: { netName: 'W' },
    });
  });

  it('keeps what is known when a part fails, and says which', async () => {
    const { info } = bench({
      rdap: fault('ECONNREFUSED'),
      whois: fault('ENOTFOUND'),
      reverse: fault('ECANCELLED'),
    });
    expect(await info.lookup('8.8.8.8')).toEqual({
      reverseDns: [],
      whois: null,
      error: 'reverse DNS: no answer in time; RDAP: ECONNREFUSED; WHOIS: ENOTFOUND',
    });
  });

  it('asks no registry about an address that is not public', async () => {
    for (const address of ['10.0.0.1', '127.0.0.1', 'fe80::1', '169.254.169.254']) {
      const { info, asked } = bench({});
      expect(await info.lookup(address)).toEqual({ reverseDns: ['a.example.net'], whois: null });
      expect(asked).toEqual([`dns ${address}`]);
    }
  });

  it('asks for the names of addresses only', async () => {
    const { info, asked } = bench({ rdap: async () => null });
    expect(await info.lookup('8.8.8.0/24')).toEqual({ reverseDns: [], whois: { netName: 'W' } });
    expect(asked).toEqual(['rdap 8.8.8.0/24', 'whois 8.8.8.0']);
  });

  it('asks once for many who want to know, and again after an hour', async () => {
    const { info, asked, pass } = bench({});
    await Promise.all(Array.from({ length: 20 }, () => info.lookup('8.8.8.8')));
    pass(3_599_999);
    await info.lookup('8.8.8.8');
    expect(asked).toHaveLength(2);
    pass(1);
    await info.lookup('8.8.8.8');
    expect(asked).toHaveLength(4);
  });

  it('remembers failures for a minute', async () => {
    const { info, asked, pass } = bench({ reverse: fault('ESERVFAIL') });
    await info.lookup('8.8.8.8');
    pass(59_999);
    await info.lookup('8.8.8.8');
    expect(asked).toHaveLength(2);
    pass(1);
    await info.lookup('8.8.8.8');
    expect(asked).toHaveLength(4);
  });

  it('can be switched off', async () => {
    expect(await NO_IP_INFO.lookup('8.8.8.8')).toEqual({
      reverseDns: [],
      whois: null,
      error: 'lookups are switched off',
    });
  });
});
