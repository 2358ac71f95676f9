import { browserAndConsole } from '../browser-and-console.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

/** The console in a browser, against gateway, worker and services. Arguments are those of `npm test`. */
export async function testWeb(bench: Workbench, args: readonly string[]): Promise<number> {
  const environment = await browserAndConsole(bench);
  return await test('jest.web.config.mjs', { environment, testServer: false })(bench, args);
}
