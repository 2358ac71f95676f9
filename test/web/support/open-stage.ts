import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
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

const KEY = 'a-key-for-the-management-side';
const SAMPLE_RULES = new URL('../../../deploy/filters.d', import.meta.url).pathname;

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run these tests with \`npm run test:web\``);
  return value;
}

/** As root, without a graphics card and with little shared memory, as machines that run tests are. */
async function openBrowser(): Promise<Browser> {
  const libraries = process.env['CHROMIUM_LIBRARIES'];
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[0] !== 'NODE_OPTIONS' && entry[1] !== undefined,
    ),
  );
  return await chromium.launch({
    executablePath: variable('CHROMIUM'),
    env: libraries === undefined ? inherited : { ...inherited, LD_LIBRARY_PATH: libraries },
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

export async function openStage(overrides: Record<string, string> = {}): Promise<Stage> {
  variable('CONSOLE_DIR');
  const filters = mkdtempSync(join(tmpdir(), 'tamis-web-rules-'));
  cpSync(SAMPLE_RULES, filters, { recursive: true });
  const capi = await createStandInCapi();
  const [stack, browser] = await Promise.all([
    openStack({ CAPI_URL: `${capi.url}/`, DASHBOARD_API_KEY: KEY, FILTERS_DIR: filters, ...overrides }),
    openBrowser(),
  ]);
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  const visit: Stage['visit'] = (path, token, options) =>
    visitConsole(browser, stack, { path, token, options });
  return {
    stack,
    capi,
    browser,
    filters,
    key: KEY,
    visit,
    async close() {
      await browser.close();
      await stack.close();
      await capi.close();
      rmSync(filters, { recursive: true });
    },
  };
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
  context.setDefaultTimeout(20_000);
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
