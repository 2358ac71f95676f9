import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

const { to, decodePart } = await loadWeb<{
  to: { file(partition: string, file: string): string; evaluation(partition?: string): string };
  decodePart(part: string): string;
}>('shared/routes');

test('a file of a dropped folder has an address that names it, whatever of it the router decodes', () => {
  const [partition, file] = ['tide:mill', 'logbooks:1901:may.md'];
  const address = to.file(partition, file);
  expect(address).toBe('/partitions/tide:mill/files/logbooks:1901:may.md');
  // The router decodes a path as a whole, which leaves `%3A` as it is: browsers and bookmarks may hold either.
  for (const path of [address, address.replaceAll(':', '%3A')]) {
    const [, , one, , other] = decodeURI(path).split('/').map(decodePart);
    expect([one, other]).toEqual([partition, file]);
  }
  expect(to.evaluation('a/b?c')).toBe('/evaluation/a%2Fb%3Fc');
});

test('a part that cannot be decoded is taken as it stands', () => {
  expect(decodePart('100%')).toBe('100%');
});
