import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lock, lockHolder, tryLock } from '../../../deploy/local/file-lock.js';
import { temporaryFolder } from './temporary-folder.js';

test('one holder at a time', () => {
  const file = join(temporaryFolder(), 'lock');
  const release = tryLock(file);
  expect(release).not.toBeNull();
  expect(lockHolder(file)?.pid).toBe(process.pid);
  expect(tryLock(file)).toBeNull();
  release?.();
  expect(tryLock(file)).not.toBeNull();
});

test('the lock of a dead holder is taken over, and so is one that holds nothing readable', () => {
  const file = join(temporaryFolder(), 'lock');
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: 'before the last boot' }));
  expect(tryLock(file)).not.toBeNull();
  writeFileSync(file, '{"pid":');
  expect(tryLock(file)).not.toBeNull();
});

test('waiting names the holder once, and ends with the signal', async () => {
  const file = join(temporaryFolder(), 'lock');
  tryLock(file);
  const holders: (number | undefined)[] = [];
  const signal = AbortSignal.timeout(100);
  const onWait = (holder: { pid: number } | null) => void holders.push(holder?.pid);
  await expect(lock(file, { signal, onWait, everyMs: 10 })).rejects.toThrow();
  expect(holders).toEqual([process.pid]);
});
