/**
 * `npm run console:pictures`: every page of the console as the demo's data fill it, light and dark, wide and narrow,
 * into `docs/console/`. `-- NAME …` takes these pages alone; `-- --french FOLDER` takes light ones in French into a
 * folder, to be looked at.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { fillForLooks, PARTITION, PDF } from './support/fill-for-looks.js';
import { openStage } from './support/open-stage.js';
import type { Stage } from './support/open-stage.js';

const DOCS = new URL('../../docs/console/', import.meta.url).pathname;
const {
  values: { french },
  positionals: only,
} = parseArgs({ options: { french: { type: 'string' } }, allowPositionals: true });
const FOLDER = french ?? DOCS;
const QUALITY = 45;
const LOOKS = [
  { name: 'wide-light', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'wide-dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  { name: 'narrow-light', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'narrow-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const;

interface Shot {
  name: string;
  path: string;
  before?: (page: Page) => Promise<void>;
}

/** All of what a page shows is there: nothing loads, and no transition goes on. */
async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 400)))');
}

/** As a choice in another window does: texts change where they stand, and dialogs stay open. */
async function speak(page: Page, language: 'en' | 'fr'): Promise<void> {
  await page.evaluate(`(() => {
    const change = { key: 'tamis-language', newValue: '"${language}"', storageArea: localStorage };
    localStorage.setItem(change.key, change.newValue);
    window.dispatchEvent(new StorageEvent('storage', change));
  })()`);
  await page.locator(`html[lang=${language}]`).waitFor();
}

async function ask(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Your question' }).fill('How much does an adult ticket cost?');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copy' }).waitFor();
}

function shots(runs: readonly string[]): Shot[] {
  const evaluation = `/evaluation/${PARTITION}`;
  return [
    { name: 'partitions', path: '/partitions' },
    { name: 'files', path: `/partitions/${PARTITION}` },
    { name: 'settings', path: `/partitions/${PARTITION}/settings` },
    { name: 'reader', path: `/partitions/${PARTITION}/files/keepers-handbook` },
    {
      name: 'page',
      path: `/partitions/${PARTITION}/files/${PDF}`,
      before: async (page) => {
        await page
          .getByRole('button', { name: /^Show the page/ })
          .first()
          .click();
        await page.getByRole('img', { name: /^Page \d+ as a picture/ }).waitFor();
      },
    },
    { name: 'search', path: '/search?q=adult+ticket' },
    { name: 'chat', path: '/chat', before: ask },
    {
      name: 'source',
      path: '/chat',
      before: async (page) => {
        await ask(page);
        await page
          .getByRole('button', { name: /^Source 1: / })
          .first()
          .click();
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      name: 'conversations',
      path: '/chat',
      before: async (page) => {
        await page.getByRole('button', { name: 'Conversations' }).click();
        await page.getByRole('dialog').getByRole('article').first().waitFor();
      },
    },
    { name: 'evaluation', path: evaluation },
    {
      name: 'evaluation-start',
      path: evaluation,
      before: async (page) => {
        await page.getByRole('button', { name: 'Start a run' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    { name: 'evaluation-run', path: `${evaluation}/runs/${runs[1]}` },
    { name: 'evaluation-comparison', path: `${evaluation}/comparison/${runs.join('/')}` },
    {
      name: 'evaluation-question',
      path: `${evaluation}/comparison/${runs.join('/')}`,
      before: async (page) => {
        await page.getByRole('button', { name: 'How often are the millstones dressed?' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    { name: 'feedback', path: `${evaluation}/feedback` },
    { name: 'tasks', path: '/tasks' },
    { name: 'overview', path: '/signals' },
    { name: 'alerts', path: '/signals/alerts' },
    { name: 'alert', path: '/signals/alerts/1' },
    { name: 'rules', path: '/signals/rules' },
    {
      name: 'rule-editor',
      path: '/signals/rules',
      before: async (page) => {
        await page.getByRole('button', { name: 'New rule' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
        await page
          .getByRole('dialog')
          .getByText(/^Matches/)
          .waitFor();
      },
    },
    { name: 'forwarding', path: '/signals/forwarding' },
    { name: 'state', path: '/state' },
    { name: 'backups', path: '/backups' },
    { name: 'models', path: '/models' },
    { name: 'users', path: '/users' },
    { name: 'account', path: '/account' },
  ];
}

async function take(stage: Stage, { name: look, ...options }: (typeof LOOKS)[number], list: readonly Shot[]) {
  const { page, close } = await stage.visit('/', undefined, options);
  const picture = async (name: string): Promise<void> => {
    if (french !== undefined) await speak(page, 'fr');
    await settled(page);
    const tooWide: unknown = await page.evaluate(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth + 1',
    );
    if (tooWide === true) console.error(`${name}, ${look}: the page scrolls sideways`);
    await page.screenshot({ path: join(FOLDER, `${name}-${look}.jpg`), type: 'jpeg', quality: QUALITY });
    if (french !== undefined) await speak(page, 'en');
  };
  await page.getByLabel('Token or key').waitFor();
  await picture('sign-in');
  for (const token of [stage.stack.token, stage.key]) {
    await page.goto(`${stage.stack.base}/app/sign-in?add=1`);
    await page.getByLabel('Token or key').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Signed in as/ }).waitFor();
  }
  for (const { name, path, before } of list) {
    await page.goto(`${stage.stack.base}/app${path}`);
    await settled(page);
    await before?.(page).catch((error: unknown) => console.error(`${name}, ${look}: ${String(error)}`));
    await picture(name);
  }
  await close();
}

/** The page that shows all of them; pictures of pages that are no more go. */
function keepIndex(names: readonly string[]): void {
  const rows = names.map((name) => {
    const links = LOOKS.map((look) => `[${look.name.replace('-', ', ')}](${name}-${look.name}.jpg)`);
    return `## ${name}\n\n${links.join(' · ')}\n\n![${name}](${name}-wide-light.jpg)\n`;
  });
  const head = "# The console\n\nMade by `npm run console:pictures` from the demo's data.\n\n";
  writeFileSync(join(DOCS, 'README.md'), head + rows.join('\n'));
  const files = names.flatMap((name) => LOOKS.map((look) => `${name}-${look.name}.jpg`));
  for (const file of readdirSync(DOCS))
    if (file.endsWith('.jpg') && !files.includes(file)) rmSync(join(DOCS, file));
  const bytes = files.reduce((sum, file) => sum + statSync(join(DOCS, file)).size, 0);
  console.log(`${files.length} pictures, ${(bytes / 1e6).toFixed(2)} MB, in docs/console/`);
}

const backups = mkdtempSync(join(tmpdir(), 'tamis-web-backups-'));
const stage = await openStage({ BACKUP_LOCATION: backups });
try {
  const { runs } = await fillForLooks(stage);
  const all = shots(runs);
  mkdirSync(FOLDER, { recursive: true });
  const wanted = all.filter(({ name }) => only.length === 0 || only.includes(name));
  const looks = LOOKS.filter(({ colorScheme }) => french === undefined || colorScheme === 'light');
  for (const look of looks) await take(stage, look, wanted);
  if (french === undefined) keepIndex(['sign-in', ...all.map(({ name }) => name)]);
} finally {
  await stage.close();
  rmSync(backups, { recursive: true, force: true });
}
process.exit(0);
