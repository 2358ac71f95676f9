import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readProxyFile } from '../../../../activities/signals/rules/read-proxy-file.js';
import type { ProxyFile } from '../../../../activities/signals/rules/read-proxy-file.js';
import { KNOWN_VARIABLES } from '../../../../schemas/config/environment.js';

function read(text: string): Promise<ProxyFile> {
  const path = join(mkdtempSync(join(tmpdir(), 'tamis-proxy-file-')), 'filters.yaml');
  writeFileSync(path, text);
  return readProxyFile(path, {});
}

async function unreadOf(text: string): Promise<string[]> {
  return (await read(text)).unread;
}

test('keys that nothing reads are named, with the variable that stands for them', async () => {
  const unread = await unreadOf(`
proxy: { listen_port: 8080, capi_url: 'https://capi.example/', timeout_ms: 1, forward_enabled: false, other: 1 }
client_validation: { enabled: true }
analyzers: { enabled: true }
lapi_servers: [{ name: one, url: 'http://lapi.example:8080', api_key: key }]
filters: { mode: allow, rules: [], defaults: {} }
`);
  expect(unread).toEqual([
    'proxy.listen_port is not read: set PROXY_PORT',
    'proxy.capi_url is not read: set CAPI_URL',
    'proxy.timeout_ms is not read: set PROXY_TIMEOUT_MS',
    'proxy.forward_enabled is not read: set FORWARD_ENABLED',
    'proxy.other is not read',
    'client_validation is not read: set CLIENT_VALIDATION_ENABLED and the like',
    'analyzers is not read',
    'filters.defaults is not read',
  ]);
  const variables = unread.flatMap((line) => /set ([A-Z_]+)/.exec(line)?.[1] ?? []);
  expect(variables.filter((name) => !KNOWN_VARIABLES.includes(name))).toEqual([]);
});

test('of a file with what is read alone, of an empty one and of none nothing is said', async () => {
  expect(await unreadOf('filters: { mode: block }\nlapi_servers: []\n')).toEqual([]);
  expect(await unreadOf('')).toEqual([]);
  expect((await readProxyFile(null, {})).unread).toEqual([]);
});

test('a pattern that cannot be used stops no start: it matches nothing, and is told of', async () => {
  const { rules, faults } = await read(`
filters: { rules: [{ name: a, filter: { op: regex, field: scenario, value: ['(', '^x'] } }] }
`);
  expect(rules[0]?.condition({ scenario: 'x/y' })).toBe('scenario matches regex "^x"');
  expect(faults).toEqual([
    expect.stringMatching(/^filters\.rules\.0\.filter\.value: regex cannot use "\(", which never matches: /),
  ]);
});
