import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

const { readFilters, queryOf, withoutEffect, instantOf, localTime } = await loadWeb<{
  readFilters(query: URLSearchParams): object;
  queryOf(filters: object): { ip?: string; country?: string; since?: string; until?: string };
  withoutEffect(filters: object): string[];
  instantOf(value: string): string;
  localTime(text: string): string;
}>('pages/signals/alerts/address-filters');
const { isAddressOrRange } = await loadWeb<{ isAddressOrRange(text: string): boolean }>(
  'pages/signals/alerts/ip-address',
);

function read(query: Record<string, string>): object {
  return readFilters(new URLSearchParams(query));
}

function asked(ip: string): string | undefined {
  return queryOf(read({ ip })).ip;
}

test.each([
  '203.0.113.7',
  ' 203.0.113.7 ',
  '0.0.0.0',
  '2001:db8::7',
  '::',
  '::ffff:203.0.113.7',
  '2001:DB8::A',
])('alerts are filtered by %s', (ip) => {
  expect(asked(ip)).toBe(ip.trim());
  expect(withoutEffect(read({ ip }))).toEqual([]);
});

test.each([
  '',
  '203',
  '203.0.113.',
  '203.0.113.256',
  '203.0.113.07',
  '203.0.113.7.1',
  '203.0.113.0/24',
  '2001:',
  '2001:db8',
  '2001:db8::7]/',
  'root',
  'face',
])('the server is not asked for %j, which is no whole address', (ip) => {
  expect(asked(ip)).toBeUndefined();
  expect(withoutEffect(read({ ip }))).toEqual(ip === '' ? [] : ['ip']);
});

test.each([
  ['fr', 'FR', []],
  [' DE ', 'DE', []],
  ['  ', undefined, []],
  ['F', undefined, ['country']],
  ['FRA', undefined, ['country']],
  ['France', undefined, ['country']],
])('a country that does not count is told apart: %j', (country, code, idle) => {
  expect(queryOf(read({ country })).country).toBe(code);
  expect(withoutEffect(read({ country, ip: '203.0.113.0/24' }))).toEqual([...idle, 'ip']);
});

test.each([
  ['2025-11-30T10:00:00.000Z', []],
  ['2020-01-01T00:00:00Z', []],
  ['in 23 hours', []],
  ['2019-12-31T23:59:00Z', ['since', 'until']],
  ['0002-11-30T09:50:39.000Z', ['since', 'until']],
  ['0202-11-30T09:50:39.000Z', ['since', 'until']],
  ['in 25 hours', ['since', 'until']],
  ['of late', ['since', 'until']],
])('the server is asked for the times that it takes alone: %s', (told, idle) => {
  const hours = /^in (\d+) hours$/.exec(told)?.[1];
  const time = hours === undefined ? told : new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
  const filters = read({ since: time, until: time });
  expect(withoutEffect(filters)).toEqual(idle);
  const at = idle.length === 0 ? new Date(time).toISOString() : undefined;
  expect(queryOf(filters)).toEqual(at === undefined ? {} : { since: at, until: at });
});

test.each(['Europe/Paris', 'America/New_York'])(
  'a time that is typed comes back to its field as it was: %s',
  (TZ) => {
    const typed = ['0002', '0020', '0202', '2026', '9999'].flatMap((year) => [
      `${year}-11-30T00:00`,
      `${year}-02-01T10:05`,
    ]);
    const module = new URL('../../../web/src/pages/signals/alerts/address-filters.ts', import.meta.url);
    const script = `import { instantOf, localTime } from ${JSON.stringify(module.href)};
      console.log(JSON.stringify(${JSON.stringify(typed)}.map((value) => localTime(instantOf(value)))));`;
    const shown = execFileSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', script],
      {
        env: { ...process.env, TZ },
        encoding: 'utf8',
      },
    );
    expect(JSON.parse(shown)).toEqual(typed);
  },
);

test('a field of a time that is emptied, or tells none, is no filter', () => {
  expect(['', '12025-11-30T10:00', 'of late'].map(instantOf)).toEqual(['', '', '']);
  expect(['', 'of late'].map(localTime)).toEqual(['', '']);
});

test('addresses and ranges are what can be asked about', () => {
  for (const source of ['203.0.113.7', '203.0.113.0/24', '2001:db8::/32', '2001:db8::7'])
    expect(isAddressOrRange(source)).toBe(true);
  for (const source of ['root', 'FR', '203.0.113.0/33', '2001:db8::/129', '203.0.113.0/', '203.0.113.0/24/8'])
    expect(isAddressOrRange(source)).toBe(false);
});
