import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lockMatches } from '../../../deploy/local/lock-matches.mjs';
import { temporaryFolder } from './temporary-folder.js';

const WANTED = {
  '': { name: 'clone' },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/b': { version: '2.0.0', integrity: 'sha512-b', optional: true },
};

function clone(installed: Record<string, unknown> | null): string {
  const root = temporaryFolder();
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: WANTED }));
  if (!installed) return root;
  mkdirSync(join(root, 'node_modules'));
  writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages: installed }));
  return root;
}

const a = WANTED['node_modules/a'];

test.each([
  ['nothing is installed', null, false],
  ['all but an optional package', { 'node_modules/a': a }, true],
  ['a required package is missing', { 'node_modules/b': WANTED['node_modules/b'] }, false],
  ['another version', { 'node_modules/a': { ...a, version: '1.0.1' } }, false],
  ['the same version with other bytes', { 'node_modules/a': { ...a, integrity: 'sha512-x' } }, false],
  ['something that was since removed', { 'node_modules/a': a, 'node_modules/c': a }, false],
])('%s', (_case, installed, expected) => {
  expect(lockMatches(clone(installed))).toBe(expected);
});
