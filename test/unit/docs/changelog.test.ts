import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** Entries of one change begin alike, however they are wrapped. */
const BEGINNING = 80;

test('no entry of "Unreleased" stands twice in CHANGELOG.md', () => {
  const [, unreleased = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## .*$/m);
  const beginnings = unreleased
    .split(/^- /m)
    .slice(1)
    .map((entry) => entry.replaceAll(/\s+/g, ' ').slice(0, BEGINNING));
  expect(beginnings.length).toBeGreaterThan(0);
  const twice = beginnings.filter((beginning, at) => beginnings.indexOf(beginning) !== at);
  expect(twice).toEqual([]);
});
