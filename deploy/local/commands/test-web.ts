import { findBrowser } from '../find-browser.js';
import { keptConsole } from '../kept-console.js';
import { LauncherError } from '../launcher-error.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

/** The console in a browser, against gateway, worker and services. Arguments are those of `npm test`. */
export async function testWeb(bench: Workbench, args: readonly string[]): Promise<number> {
  const [browser, folder] = await Promise.all([findBrowser(bench), keptConsole(bench)]);
  if (folder === null) throw new LauncherError('this clone has no console');
  const environment = { ...browser, CONSOLE_DIR: folder };
  return await test('jest.web.config.mjs', { environment, testServer: false })(bench, args);
}
