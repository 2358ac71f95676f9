import type { Browser } from 'playwright-core';

/** The first start reads 200 MB from the disk, beside what else the machine does. */
const STARTS_WITHIN_MS = 90_000;

/**
 * A browser by the variables of `findBrowser`. As root, without a graphics card and with little shared memory, as
 * machines that run tests are.
 * @throws Error when it does not start in time
 */
export async function openBrowser(variables: NodeJS.ProcessEnv): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  const { CHROMIUM: program, CHROMIUM_LIBRARIES: libraries, NODE_OPTIONS: _jest, ...rest } = variables;
  if (program === undefined) throw new Error('CHROMIUM names no browser: run this with `npm run test:web`');
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) env[name] = value;
  if (libraries !== undefined) env['LD_LIBRARY_PATH'] = libraries;
  return await chromium.launch({
    executablePath: program,
    env,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    timeout: STARTS_WITHIN_MS,
  });
}
