/**
 * `npm run console:pictures`: every page of the console as the demo's data fill it, light and dark, wide and narrow,
 * into `docs/console/`.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { fillForLooks, PARTITION, PDF } from './support/fill-for-looks.js';
import { openStage } from './support/open-stage.js';
import type { Stage } from './support/open-stage.js';

const FOLDER = new URL('../../docs/console/', import.meta.url).pathname;
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
  ];
}

async function take(stage: Stage, { name: look, ...options }: (typeof LOOKS)[number], list: readonly Shot[]) {
  const { page, close } = await stage.visit('/', undefined, options);
  const picture = async (name: string): Promise<void> => {
    await settled(page);
    await page.screenshot({ path: join(FOLDER, `${name}-${look}.jpg`), type: 'jpeg', quality: QUALITY });
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
    const tooWide: unknown = await page.evaluate(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth + 1',
    );
    if (tooWide === true) console.error(`${name}, ${look}: the page scrolls sideways`);
    await picture(name);
  }
  await close();
}

function writeIndex(names: readonly string[]): void {
  const rows = names.map((name) => {
    const links = LOOKS.map((look) => `[${look.name.replace('-', ', ')}](${name}-${look.name}.jpg)`);
    return `## ${name}\n\n${links.join(' · ')}\n\n![${name}](${name}-wide-light.jpg)\n`;
  });
  const head = "# The console\n\nMade by `npm run console:pictures` from the demo's data.\n\n";
  writeFileSync(join(FOLDER, 'README.md'), head + rows.join('\n'));
}

const only = process.argv.slice(2);
const backups = mkdtempSync(join(tmpdir(), 'tamis-web-backups-'));
const stage = await openStage({ BACKUP_LOCATION: backups });
try {
  const { runs } = await fillForLooks(stage);
  const all = shots(runs);
  mkdirSync(FOLDER, { recursive: true });
  const wanted = all.filter(({ name }) => only.length === 0 || only.includes(name));
  for (const look of LOOKS) await take(stage, look, wanted);
  const names = ['sign-in', ...all.map(({ name }) => name)];
  writeIndex(names);
  const made = new Set(names.flatMap((name) => LOOKS.map((look) => `${name}-${look.name}.jpg`)));
  for (const file of readdirSync(FOLDER))
    if (file.endsWith('.jpg') && !made.has(file)) rmSync(join(FOLDER, file));
  const bytes = names
    .flatMap((name) => LOOKS.map((look) => join(FOLDER, `${name}-${look.name}.jpg`)))
    .reduce((sum, file) => sum + statSync(file).size, 0);
  console.log(`${names.length * LOOKS.length} pictures, ${(bytes / 1e6).toFixed(2)} MB, in docs/console/`);
} finally {
  await stage.close();
  rmSync(backups, { recursive: true, force: true });
}
process.exit(0);
