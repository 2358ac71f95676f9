import { obtainFuzzTool } from '../fuzz-tool.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

/** Generated requests by `/openapi.json` against a running gateway. Arguments are those of `npm test`. */
export async function testFuzz(bench: Workbench, args: readonly string[]): Promise<number> {
  const environment = await obtainFuzzTool(bench);
  return await test('jest.fuzz.config.mjs', { environment, testServer: false })(bench, args);
}
