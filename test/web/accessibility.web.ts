import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { documentClient } from '../support/document-client.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SAMPLES = new URL('../../deploy/samples/', import.meta.url).pathname;
const PARTITION = 'tide-mill';
const FILE = 'visitor-guide.md';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  const documents = documentClient(stage.stack);
  await stage.stack.request(`/partition/${PARTITION}`, { method: 'POST' });
  const guide = readFileSync(`${SAMPLES}visitor-guide.md`, 'utf8');
  await documents.ended(await documents.upload('POST', PARTITION, FILE, guide, FILE));
  await documents.ended(
    await documents.upload('POST', PARTITION, 'broken', '%PDF-1.7 no more', 'broken.pdf'),
  );
  const lapi = signalClient(stage.stack.base, 'watcher');
  await lapi.login();
  await lapi.push([...Array.from({ length: 5 }, (_, index) => sampleSignal(index)), { scenario: 1 }]);
});
afterAll(() => stage?.close());

const PAGES: readonly [path: string, heading: string | RegExp][] = [
  ['/partitions', 'Partitions'],
  [`/partitions/${PARTITION}`, PARTITION],
  [`/partitions/${PARTITION}/settings`, /./],
  [`/partitions/${PARTITION}/files/${FILE}`, FILE],
  [`/partitions/${PARTITION}/files/gone.md`, 'gone.md'],
  ['/search?q=ticket', 'Search'],
  ['/chat', 'Chat'],
  ['/evaluation', 'Evaluation'],
  [`/evaluation/${PARTITION}/feedback`, /./],
  ['/tasks', 'Tasks'],
  ['/signals', 'Overview of signals'],
  ['/signals/alerts', 'Alerts'],
  ['/signals/alerts/1', /./],
  ['/signals/rules', 'Rules'],
  ['/signals/forwarding', 'Forwarding'],
  ['/state', /./],
  ['/backups', 'Backups'],
  ['/models', /./],
  ['/users', /./],
];

async function findingsOf(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`${AXE};
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 300) + ' ' + failureSummary)))`);
}

/** Signed in to both sides. */
async function signedIn(options: Parameters<Stage['visit']>[2]): Promise<Visitor> {
  const visitor = await stage.visit('/', stage.stack.token, options);
  const { page } = visitor;
  await page.goto(`${stage.stack.base}/app/sign-in?add=1`);
  await page.getByLabel('Token or key').fill(stage.key);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('button', { name: /^Signed in as/ }).waitFor();
  return visitor;
}

describe.each([
  ['wide and light', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' } as const],
  ['narrow and dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const],
])('every page, %s', (_name, options) => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await signedIn(options);
  });
  afterAll(() => visitor?.close());

  it('has nothing that axe finds, and no width to scroll', async () => {
    const findings: Record<string, string[]> = {};
    for (const [path, heading] of PAGES) {
      const { page } = visitor;
      await page.goto(`${stage.stack.base}/app${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).first().waitFor();
      await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
      const found = await findingsOf(page);
      const tooWide: unknown = await page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth + 1',
      );
      if (tooWide === true) found.push('the page scrolls sideways');
      if (found.length > 0) findings[path] = found;
    }
    expect(findings).toEqual({});
    expect(visitor.faults).toEqual([]);
  });
});

describe('the keyboard alone', () => {
  it('signs in, skips the navigation, uploads, asks and opens a source', async () => {
    const { page, faults, close } = await stage.visit('/');
    const focused = async (): Promise<string> =>
      String(
        await page.evaluate(
          'document.activeElement === document.body ? "" : document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
        ),
      );
    await page.getByLabel('Token or key').waitFor();
    await page.keyboard.type(stage.stack.token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Partitions' }).waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('New partition');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until('the focus is back', async () => (await focused()) === 'New partition');
    await page.goto(`${stage.stack.base}/app/chat`);
    await page.getByRole('textbox', { name: 'Your question' }).waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('/');
    await page.keyboard.type('How much does an adult ticket cost?');
    await page.keyboard.press('Enter');
    const source = page.getByRole('button', { name: /^Source 1: / });
    await source.waitFor();
    await source.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').locator('mark').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until('the focus is back', async () => (await focused()).startsWith('Source 1'));
    expect(faults).toEqual([]);
    await close();
  });
});
