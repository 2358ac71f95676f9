import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainFuzzToolOrSay } from '../fuzz-tool.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

const CONFIG = 'jest.config.mjs';
const OPTIONAL = { files: 'fuzz', obtain: obtainFuzzToolOrSay };

/** `npm test`: what takes ten minutes, unless the arguments choose suites. */
export async function testShortSuites(bench: Workbench, args: readonly string[]): Promise<number> {
  const list = readFileSync(join(bench.paths.root, 'test/long-suites.json'), 'utf8');
  const long = Object.keys((JSON.parse(list) as { seconds: object }).seconds);
  return await test(CONFIG, { optional: OPTIONAL, long })(bench, args);
}

/** `npm run test:all`: the long suites as well. */
export async function testAllSuites(bench: Workbench, args: readonly string[]): Promise<number> {
  return await test(CONFIG, { optional: OPTIONAL })(bench, args);
}
