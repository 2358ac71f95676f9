import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  describeDifferences,
  formatManifest,
  parseManifest,
} from '../../../deploy/local/package-manifest.js';

const LIST = join(process.cwd(), 'deploy/local/artifacts/debian/documentdb.txt');

function pinned(name: string, version: string, digit = 'a') {
  return { name, version, sha256: digit.repeat(64) };
}

test('the measured packages are read, each once, and written as they were', () => {
  const text = readFileSync(LIST, 'utf8');
  const packages = parseManifest(text);
  expect(new Set(packages.map(({ name }) => name)).size).toBe(packages.length);
  expect(packages.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['libc6', 'postgresql-18', 'postgresql-18-documentdb']),
  );
  expect(formatManifest(packages)).toBe(text.replace(/^#.*\n/gm, ''));
});

test('a line without a digest is refused', () => {
  expect(() => parseManifest('libc6=2.43-7')).toThrow('not a pinned package');
});

test('nothing is said of the same packages, in whatever order', () => {
  const packages = [pinned('a', '1'), pinned('b', '2')];
  expect(describeDifferences(packages, packages.toReversed())).toBeNull();
});

test('another version, other content, a new and a missing package are said in one line', () => {
  const measured = [pinned('a', '1'), pinned('b', '2'), pinned('c', '3')];
  const fetched = [pinned('a', '1.1'), pinned('b', '2', 'f'), pinned('d', '4')];
  expect(describeDifferences(measured, fetched)).toBe(
    '4 of 3 packages differ from those that were measured: a 1.1 instead of 1, b 2 with other content, d 4 is new, and 1 more',
  );
  expect(describeDifferences(measured, measured.slice(1))).toContain('a is gone');
});
