import { existsSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { keepHealthFile } from '../../../workers/health-file.js';

describe('the file that a worker keeps young', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tamis-unit-'));
    file = join(folder, 'alive');
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
    rmSync(folder, { recursive: true });
  });
  const age = (): number => Date.now() - statSync(file).mtimeMs;
  const makeOld = (): void => utimesSync(file, new Date(0), new Date(0));

  test('is there at once, and touched again and again', () => {
    const end = keepHealthFile(file, () => true);
    expect(existsSync(file)).toBe(true);
    makeOld();
    jest.advanceTimersByTime(10_000);
    expect(age()).toBeLessThan(30_000);
    end();
    makeOld();
    jest.advanceTimersByTime(60_000);
    expect(age()).toBeGreaterThan(30_000);
  });

  test('ages while the worker does not poll', () => {
    let well = true;
    const end = keepHealthFile(file, () => well);
    well = false;
    makeOld();
    jest.advanceTimersByTime(60_000);
    expect(age()).toBeGreaterThan(30_000);
    end();
  });

  test('comes back when somebody removed it, and is not made where none is wanted', () => {
    const end = keepHealthFile(file, () => true);
    rmSync(file);
    jest.advanceTimersByTime(10_000);
    expect(existsSync(file)).toBe(true);
    end();
    keepHealthFile(null, () => true)();
  });
});
