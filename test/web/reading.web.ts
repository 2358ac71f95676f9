import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { dropFolder } from './support/drop-files.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const PARTITION = 'tide-mill';
const SAMPLES = new URL('../../deploy/samples/', import.meta.url).pathname;
const GUIDE = 'visitor-guide.md';
const HANDBOOK = 'keepers-handbook.pdf';
const QUESTION = 'How much does an adult ticket cost?';

let stage: Stage;
let keeper: Visitor;
beforeAll(async () => {
  stage = await openStage();
  const documents = documentClient(stage.stack);
  await stage.stack.request(`/partition/${PARTITION}`, { method: 'POST' });
  for (const name of [GUIDE, HANDBOOK]) {
    const bytes = readFileSync(`${SAMPLES}${name}`);
    await documents.ended(await documents.upload('POST', PARTITION, name, bytes, name));
  }
  keeper = await stage.visit('/', stage.stack.token);
});
afterAll(() => stage?.close());

async function open(path: string): Promise<Page> {
  await keeper.page.goto(`${stage.stack.base}/app${path}`);
  return keeper.page;
}

describe('what one reads, in the browser', () => {
  it('shows of a hit both scores, and to administrators how it was found', async () => {
    const page = await open('/search?q=adult+ticket');
    const first = page.getByRole('article').first();
    await first.getByText(/^score [\d.]+$/).waitFor();
    await first.getByText(/^meaning [\d.]+$/).waitFor();
    await page.getByRole('checkbox', { name: /^Show how it was found/ }).check();
    await page.getByRole('button', { name: 'How it was found' }).first().click();
    await page
      .getByText(/"?rank/)
      .first()
      .waitFor();
    const { body } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Ada',
    });
    const other = await stage.visit('/partitions', body.token);
    await other.page.getByRole('button', { name: 'New partition' }).click();
    await other.page.getByRole('textbox', { name: 'Name of the partition' }).fill('hers');
    await other.page.getByRole('button', { name: 'Create' }).click();
    await other.page.goto(`${stage.stack.base}/app/search`);
    await other.page.getByRole('searchbox', { name: 'Search for' }).waitFor();
    expect(await other.page.getByRole('checkbox', { name: /^Show how it was found/ }).count()).toBe(0);
    await other.close();
  });

  it('changes the metadata of a file, by which it is found in the list', async () => {
    const page = await open(`/partitions/${PARTITION}`);
    await page.getByRole('button', { name: `Actions: ${GUIDE}` }).click();
    await page.getByRole('menuitem', { name: 'Metadata' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Add a key' }).click();
    await dialog.getByRole('textbox', { name: 'Key' }).last().fill('season');
    await dialog.getByRole('textbox', { name: 'Value' }).last().fill('spring tide');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The metadata is saved.').waitFor();
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('spring tide');
    await page.getByText('1 of 2 files').waitFor();
    await page.getByRole('link', { name: GUIDE }).waitFor();
  });

  it('shows how a PDF was read and its page as a picture, and hands out the original', async () => {
    const page = await open(`/partitions/${PARTITION}/files/${HANDBOOK}`);
    await page.getByRole('button', { name: 'How it was read' }).click();
    await page.getByText('Reader', { exact: true }).waitFor();
    await page
      .getByRole('button', { name: /^Show the page/ })
      .first()
      .click();
    await page.getByRole('img', { name: /^Page 1 as a picture/ }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the original' }).click();
    expect(readFileSync(await (await download).path()).equals(readFileSync(`${SAMPLES}${HANDBOOK}`))).toBe(
      true,
    );
  });

  it('copies an answer as text, whose quote is verified, and asks a changed question in its place', async () => {
    const page = await open('/chat');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('textbox', { name: 'Your question' }).fill(QUESTION);
    await page.keyboard.press('Enter');
    const answers = page.getByRole('article', { name: 'Answer' });
    await answers.getByText('quote verified').first().waitFor();
    await answers.getByText(`Searched for: ${QUESTION}`).waitFor();
    await answers.getByRole('button', { name: 'Copy' }).click();
    await answers.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('7 euros');
    await page.getByRole('button', { name: 'Change and ask again' }).click();
    const changed = page.getByRole('main').getByRole('textbox', { name: 'Your question' }).first();
    await changed.fill('How often are the millstones dressed?');
    await page.getByRole('button', { name: 'Send' }).first().click();
    await answers.getByText('300 hours').first().waitFor();
    expect(await answers.count()).toBe(1);
    expect(await page.getByRole('article', { name: 'You' }).allTextContents()).toEqual([
      expect.stringContaining('How often are the millstones dressed?'),
    ]);
  });

  it('takes a dropped folder with the folders in it, each file by its place', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tamis-web-folder-'));
    const logbooks = join(folder, 'logbooks');
    for (const [year, name] of [
      ['1901', 'may.md'],
      ['1902', 'june.md'],
    ] as const) {
      mkdirSync(join(logbooks, year), { recursive: true });
      writeFileSync(join(logbooks, year, name), `In ${year} the keeper painted the ${name} door.`);
    }
    expect((await stage.stack.request('/partition/attic', { method: 'POST' })).status).toBe(201);
    const page = await open('/partitions/attic');
    await page.getByText('No file yet').waitFor();
    await dropFolder(page, logbooks);
    await page.getByRole('region', { name: 'Uploads' }).getByText('2 / 2').waitFor();
    await page.getByText('2 of 2 files').waitFor();
    for (const id of ['logbooks:1901:may.md', 'logbooks:1902:june.md'])
      expect((await stage.stack.request(`/partition/attic/file/${id}`)).status).toBe(200);
    rmSync(folder, { recursive: true });
    await page.getByRole('link', { name: 'may.md' }).click();
    await page.getByRole('region', { name: 'Extracts' }).getByText('In 1901').waitFor();
  });

  it('stops an answer that is still to come', async () => {
    const page = await open('/chat');
    await page.route('**/v1/chat/completions', () => undefined);
    await page.getByRole('textbox', { name: 'Your question' }).fill(QUESTION);
    await page.keyboard.press('Enter');
    await page.getByText('Looking for an answer').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    await page.unroute('**/v1/chat/completions');
    expect(keeper.faults).toEqual([]);
  });
});
