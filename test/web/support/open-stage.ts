import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from '../../../deploy/local/open-browser.js';
import { createStandInCapi } from '../../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../../deploy/stand-in-capi/create-stand-in-capi.js';
import { openStack } from '../../support/running-stack.js';
import type { RunningStack } from '../../support/running-stack.js';

/** A person before a window: what the browser reported while they looked is kept. */
export interface Visitor {
  page: Page;
  /** Errors of scripts, dialogs, requests to elsewhere, and what the content security policy refused. */
  faults: string[];
  close(): Promise<void>;
}

/** Gateway, worker, a central API and a browser. */
export interface Stage {
  stack: RunningStack;
  capi: StandInCapi;
  browser: Browser;
  /** Folder of the rules in force. */
  filters: string;
  /** The key of the signals' side. */
  key: string;
  /** @param token signs in with it, and opens `path` below `/app` */
  visit(path: string, token?: string, options?: BrowserContextOptions): Promise<Visitor>;
  close(): Promise<void>;
}

/** What the page does takes as long as the machine, which does other things, makes it take. */
const WITHIN_MS = 60_000;
const KEY = 'a-key-for-the-management-side';
const SAMPLE_RULES = new URL('../../../deploy/filters.d', import.meta.url).pathname;

/**
 * @param overrides variables of gateway and worker
 * @param options.prepare makes of the stores what gateway and worker are to find when they start
 */
export async function openStage(
  overrides: Record<string, string> = {},
  { prepare }: { prepare?: (stack: RunningStack) => Promise<void> } = {},
): Promise<Stage> {
  if (process.env['CONSOLE_DIR'] === undefined) throw new Error('run these tests with `npm run test:web`');
  const filters = mkdtempSync(join(tmpdir(), 'tamis-web-rules-'));
  cpSync(SAMPLE_RULES, filters, { recursive: true });
  // before anything that would go on running without it
  const browser = await openBrowser(process.env);
  const capi = await createStandInCapi();
  const stack = await openStack({
    CAPI_URL: `${capi.url}/`,
    DASHBOARD_API_KEY: KEY,
    FILTERS_DIR: filters,
    ...overrides,
  });
  const close = async (): Promise<void> => {
    await browser.close();
    await capi.close();
    rmSync(filters, { recursive: true });
    await stack.close();
  };
  try {
    await prepare?.(stack);
    await Promise.all([stack.startGateway(), stack.startWorker()]);
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  const visit: Stage['visit'] = (path, token, options) =>
    visitConsole(browser, stack, { path, token, options });
  return { stack, capi, browser, filters, key: KEY, visit, close };
}

async function visitConsole(
  browser: Browser,
  stack: Pick<RunningStack, 'base'>,
  {
    path,
    token,
    options,
  }: { path: string; token?: string | undefined; options?: BrowserContextOptions | undefined },
): Promise<Visitor> {
  const context = await browser.newContext({
    locale: 'en-GB',
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(WITHIN_MS);
  const faults: string[] = [];
  context.on('weberror', (error) => faults.push(`script: ${error.error().message}`));
  context.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(`policy: ${message.text()}`);
  });
  context.on('request', (request) => {
    if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(`${stack.base}/`))
      faults.push(`asked elsewhere: ${request.url()}`);
  });
  const page = await context.newPage();
  await page.goto(`${stack.base}/app${path}`);
  if (token !== undefined) {
    await page.getByLabel('Token or key').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: /^Signed in as/ }).waitFor();
  }
  return { page, faults, close: () => context.close() };
}
