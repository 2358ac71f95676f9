import { obtainSecuredEngines } from '../secured-engines.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

/** Engines that ask for accounts and certificates of their own. Arguments are those of `npm test`. */
export async function testSecured(bench: Workbench, args: readonly string[]): Promise<number> {
  const environment = await obtainSecuredEngines(bench);
  return await test('jest.secured.config.mjs', { environment, testServer: false })(bench, args);
}
