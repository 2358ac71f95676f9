import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openToAll } from '../../../deploy/local/open-to-all.js';
import { temporaryFolder } from './temporary-folder.js';

test('a folder is open when it is readable and every folder above lets others through', () => {
  const outer = temporaryFolder();
  const inner = join(outer, 'inner');
  mkdirSync(inner, { mode: 0o755 });
  chmodSync(outer, 0o711);
  expect(openToAll(inner)).toBe(true);
  expect(openToAll(outer)).toBe(false);
  chmodSync(outer, 0o700);
  expect(openToAll(inner)).toBe(false);
});
