import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

const { readFilters, queryOf, withoutEffect } = await loadWeb<{
  readFilters(query: URLSearchParams): object;
  queryOf(filters: object): { ip?: string; country?: string };
  withoutEffect(filters: object): string[];
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

test('addresses and ranges are what can be asked about', () => {
  for (const source of ['203.0.113.7', '203.0.113.0/24', '2001:db8::/32', '2001:db8::7'])
    expect(isAddressOrRange(source)).toBe(true);
  for (const source of ['root', 'FR', '203.0.113.0/33', '2001:db8::/129', '203.0.113.0/', '203.0.113.0/24/8'])
    expect(isAddressOrRange(source)).toBe(false);
});
