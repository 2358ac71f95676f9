import { browserAndConsole } from '../browser-and-console.js';
import { bench } from './bench.js';

/** A script that uses the console in a browser, with the real services. */
export function withBrowser(script: string): ReturnType<typeof bench> {
  return bench(script, { obtain: browserAndConsole });
}
