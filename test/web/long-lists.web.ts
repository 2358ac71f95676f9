import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneFile } from './support/clone-file.js';
import { openStage } from './support/open-stage.js';
import type { Stage } from './support/open-stage.js';

const PARTITION = 'long';
const FILES = 1_200;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  await cloneFile(stage.stack, PARTITION, FILES);
});
afterAll(() => stage?.close());

describe('a partition with more files than a page of the list has', () => {
  it('shows the first page while the others are still to come, then all', async () => {
    const { page, faults, close } = await stage.visit('/', stage.stack.token);
    await page.getByText(/^1,200 files$/).waitFor();
    await page.getByText(/^1200 extracts$|^1,200 extracts$/).waitFor();
    let goOn: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await page.route(/\/partition\/long\?.*after=/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${stage.stack.base}/app/partitions/${PARTITION}`);
    const table = page.getByRole('table', { name: 'Files' });
    await table.getByRole('link', { name: 'first.md', exact: true }).first().waitFor();
    await page.getByText(/^500 of 1,200 files/).waitFor();
    expect(await table.getAttribute('aria-rowcount')).toBe(String(FILES + 1));
    goOn?.();
    await page.getByText('1,200 of 1,200 files · names by their characters, so 10 before 9').waitFor();
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('log-999');
    await page.getByText(/^1 of 1,200 files/).waitFor();
    expect(await table.getByRole('link').first().getAttribute('title')).toBe('log-999.md');
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('');
    await page.getByRole('button', { name: 'Sort by File' }).click();
    await page.getByText(/^1,200 of 1,200 files/).waitFor();
    expect(await table.getByRole('link').first().getAttribute('title')).toBe('log-999.md');
    expect(faults).toEqual([]);
    await close();
  });
});
