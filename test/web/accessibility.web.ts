import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';
import { axeFindings, layoutFaults } from './support/page-faults.js';

const SAMPLES = new URL('../../deploy/samples/', import.meta.url).pathname;
const PARTITION = 'tide-mill';
const FILE = 'visitor-guide.md';

let stage: Stage;
/** Of two runs of an evaluation. */
let runPages: [path: string, heading: RegExp][] = [];
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
  const [before, after] = [await evaluate('before'), await evaluate('after')];
  const place = `/evaluation/${PARTITION}`;
  runPages = [`${place}/runs/${after}`, `${place}/comparison/${before}/${after}`].map((path) => [path, /./]);
}, 300_000);
afterAll(() => stage?.close());

/** A run over one question; answers its id when it has ended. */
async function evaluate(label: string): Promise<string> {
  const base = `/evaluation/partition/${PARTITION}`;
  const content = '{"question":"How much does an adult ticket cost?","relevant":["visitor-guide.md"]}';
  const set = await askStack(stage.stack, 'POST', `${base}/question-sets/desk`, { format: 'jsonl', content });
  expect(set.status).toBeLessThan(300);
  // The run before is told as completed a moment before its workflow ends.
  const id = await until('the run is taken', async () => {
    const { body } = await askStack<{ run_id?: string }>(stage.stack, 'POST', `${base}/runs`, {
      set: 'desk',
      label,
      chat: true,
    });
    return body.run_id ?? false;
  });
  await until('the run has ended', async () => {
    const { body } = await askStack<{ status: string }>(stage.stack, 'GET', `${base}/runs/${id}`);
    return body.status !== 'running';
  });
  return id;
}

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
  ['/account', 'My account'],
];

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

const NARROW = { width: 360, height: 740 };
const FOUR_K = { width: 3840, height: 2160 };

describe.each([
  ['wide and light', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' } as const],
  ['narrow and light', { viewport: NARROW, colorScheme: 'light' } as const],
  ['narrow and dark', { viewport: NARROW, colorScheme: 'dark' } as const],
  ['4k and light', { viewport: FOUR_K, colorScheme: 'light' } as const],
  ['4k and dark', { viewport: FOUR_K, colorScheme: 'dark' } as const],
])('every page, %s', (_name, options) => {
  let visitor: Visitor;
  const findings: Record<string, string[]> = {};
  const look = async (what: string, without?: readonly string[]): Promise<void> => {
    const { page } = visitor;
    const found = [...(await axeFindings(page, without)), ...(await layoutFaults(page))];
    if (found.length > 0) findings[what] = found;
  };
  beforeAll(async () => {
    visitor = await stage.visit('/', undefined, options);
    await visitor.page.getByLabel('Token or key').waitFor();
    await look('sign-in');
    await visitor.close();
    visitor = await signedIn(options);
  });
  afterAll(() => visitor?.close());

  it('has nothing that axe finds, no width to scroll, and nothing out of reach', async () => {
    const { page } = visitor;
    for (const [path, heading] of [...PAGES, ...runPages]) {
      await page.goto(`${stage.stack.base}/app${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).first().waitFor();
      await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
      await look(path);
    }
    expect(findings).toEqual({});
    expect(visitor.faults).toEqual([]);
  });

  it('has an answer and its source in reach, and the menu', async () => {
    const { page } = visitor;
    await page.goto(`${stage.stack.base}/app/chat`);
    await page.getByRole('textbox', { name: 'Your question' }).fill('How much does an adult ticket cost?');
    await page.keyboard.press('Enter');
    const source = page.getByRole('button', { name: /^Source 1: / });
    await source.waitFor();
    await look('an answer');
    await source.click();
    await page.getByRole('dialog').locator('mark').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const menu = page.getByRole('navigation', { name: 'Menu' });
    const link = menu.getByRole('link', { name: 'Backups' });
    if (options.viewport === NARROW) {
      const isStop = async (): Promise<unknown> => {
        await page.getByRole('button', { name: /^Signed in as/ }).focus();
        await page.keyboard.press('Tab');
        return page.evaluate('document.activeElement.closest("nav") !== null');
      };
      // what is folded away is nothing that the Tab key stops at
      expect(await isStop()).toBe(false);
      await page.getByRole('button', { name: 'Menu' }).click();
      await until('the menu is a stop', async () => (await isStop()) === true);
      // the page behind it is inert, and with it the main landmark and the heading that axe would look for
      await look('the menu', ['landmark-one-main', 'page-has-heading-one']);
    }
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Backups' }).waitFor();
    expect(findings).toEqual({});
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
    expect(await focused()).toBe('');
    await page.keyboard.press('Control+k');
    expect(await focused()).toBe('Your question');
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

describe('who does not see the page', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await stage.visit('/', stage.stack.token, { viewport: { width: 1280, height: 500 } });
  });
  afterAll(() => visitor?.close());
  const heading = (page: Visitor['page'], name: string) => page.getByRole('heading', { level: 1, name });
  const focusedHeading = (page: Visitor['page']) => page.locator('h1:focus');

  it('hears how many passages a search found, and that it found nothing, in one place', async () => {
    const { page } = visitor;
    await page.goto(`${stage.stack.base}/app/search`);
    const field = page.getByRole('searchbox', { name: 'Search for' });
    await field.waitFor();
    await page.evaluate(`document.querySelector('main [aria-live="polite"]').dataset.known = 'yes'`);
    const known = page.locator('main [data-known="yes"]');
    await field.fill('ticket');
    await known.filter({ hasText: /^\d+ passages?$/ }).waitFor();
    await page.getByRole('textbox', { name: 'Filter expression' }).fill('file_id like "%none%"');
    await known.filter({ hasText: 'Nothing was found' }).waitFor();
  });

  it('finds a heading and a title where there is no page, and where there is nothing to evaluate', async () => {
    const { page } = visitor;
    await page.goto(`${stage.stack.base}/app/nowhere`);
    await heading(page, 'There is no such page.').waitFor();
    expect(await page.title()).toBe('There is no such page. · Tamis');
    const { body } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Nina',
    });
    const nina = await stage.visit('/evaluation', body.token);
    await heading(nina.page, 'Evaluation').waitFor();
    await nina.close();
  });

  it('begins at the heading of the page that a link led to, and stays where one types', async () => {
    const { page } = visitor;
    await page.goto(`${stage.stack.base}/app/models`);
    await heading(page, 'Models').waitFor();
    const menu = page.getByRole('navigation', { name: 'Menu' });
    await until('the page is long enough', async () => {
      await page.evaluate('window.scrollTo(0, 200)');
      return (await page.evaluate('window.scrollY')) === 200;
    });
    await menu.getByRole('link', { name: 'Tasks' }).click();
    await heading(page, 'Tasks').waitFor();
    await focusedHeading(page).waitFor();
    expect(await focusedHeading(page).textContent()).toBe('Tasks');
    expect(await page.evaluate('window.scrollY')).toBe(0);
    await menu.getByRole('link', { name: 'Chat' }).click();
    await page.getByRole('textbox', { name: 'Your question' }).waitFor();
    await page.locator('textarea:focus').waitFor();
    await page.goBack();
    await heading(page, 'Tasks').waitFor();
    expect(await focusedHeading(page).count()).toBe(0);
    expect(visitor.faults).toEqual([]);
  });
});
