import { findBrowser } from './find-browser.js';
import { keptConsole } from './kept-console.js';
import { LauncherError } from './launcher-error.js';
import type { Workbench } from './workbench.js';

/** The variables of what uses the console in a browser. */
export async function browserAndConsole(bench: Workbench): Promise<Record<string, string>> {
  const [browser, folder] = await Promise.all([findBrowser(bench), keptConsole(bench)]);
  if (folder === null) throw new LauncherError('this clone has no console');
  return { ...browser, CONSOLE_DIR: folder };
}
