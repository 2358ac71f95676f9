import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { reducedVector } from '../bench/instant-model-server.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { swapClient } from '../support/swap-campaign.js';
import { uploadTexts } from '../support/upload-texts.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const PARTITION = 'mills';

let stage: Stage;
let models: ScriptedModelServer;
let keeper: Visitor;
beforeAll(async () => {
  models = await startScriptedModelServer({ dimension: 256, vector: reducedVector });
  stage = await openStage();
  const { stack } = stage;
  await uploadTexts(stack, PARTITION, { files: 6, paragraphs: 100 });
  keeper = await stage.visit('/', stack.token);
}, 300_000);
afterAll(async () => {
  await stage?.close();
  await models?.close();
});

async function open(path: string): Promise<Page> {
  await keeper.page.goto(`${stage.stack.base}/app${path}`);
  return keeper.page;
}

describe('a move to another embedder, in the browser', () => {
  async function move(page: Page, least: string): Promise<void> {
    await page.getByRole('button', { name: 'Move to another embedder' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Embedder' }).click();
    await page.getByRole('option', { name: 'new', exact: true }).click();
    if (least !== '')
      await dialog.getByRole('textbox', { name: 'Least share of the same results' }).fill(least);
    await dialog.getByRole('button', { name: 'Move to another embedder' }).click();
    await dialog.waitFor({ state: 'detached' });
  }

  it('says by which figures a gate held it back, and what was measured when it went over', async () => {
    await swapClient(stage.stack).register('new', models.url);
    let page = await open(`/partitions/${PARTITION}/settings`);
    await move(page, '1');
    await page.getByText('failed', { exact: true }).waitFor();
    const figures = page.getByRole('table', { name: 'Measured before the change' });
    const overlap = figures.getByRole('row').filter({ hasText: 'Same results as before' });
    await overlap.getByText(/^\d[\d.]*\s?% \(at least 1(\.0+)?\)$/).waitFor();
    await figures.getByRole('row').filter({ hasText: 'Rank of known texts' }).getByText(/ → /).waitFor();
    await page.getByText(/min_overlap/).waitFor();
    const heldBack = await figures.innerText();

    page = await open('/partitions');
    const card = page.getByRole('article').filter({ hasText: PARTITION });
    const moved = card.getByRole('group', { name: 'From builtin-hash to new' });
    await moved.getByText('failed', { exact: true }).waitFor();
    expect(await figures.innerText()).toBe(heldBack);
    await card.getByText('Embedder: builtin-hash').waitFor();

    page = await open(`/partitions/${PARTITION}/settings`);
    await move(page, '');
    await page.getByText('completed', { exact: true }).waitFor();
    await page.getByText('From builtin-hash to new').waitFor();
    await page
      .getByRole('region', { name: 'Embedder' })
      .getByText('Embedder: new', { exact: true })
      .waitFor();
    const wentOver = await figures.innerText();
    expect(wentOver).not.toContain('at least');

    page = await open('/partitions');
    await moved.getByText('completed', { exact: true }).waitFor();
    await card.getByText('Embedder: new').waitFor();
    expect(await figures.innerText()).toBe(wentOver);
    page = await open('/state');
    const moves = page.getByRole('region', { name: 'Moves to another embedder' });
    await moves.getByText('failed', { exact: true }).waitFor();
    expect(await moves.getByRole('table').allInnerTexts()).toEqual([wentOver, heldBack]);
    expect(keeper.faults).toEqual([]);
  });

  it('is told on the card in French too, and on the page of the state why it failed', async () => {
    let page = await open('/partitions');
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Français' }).click();
    const moved = page.getByRole('article').getByRole('group', { name: 'De builtin-hash à new' });
    await moved.getByText('Mêmes résultats qu’avant').waitFor();
    await moved.getByText('Rang des textes connus').waitFor();
    await moved.getByText('terminé', { exact: true }).waitFor();
    page = await open('/state');
    await page.getByText('La nouvelle vectorisation n’atteint pas ce qui était demandé.').waitFor();
    expect(keeper.faults).toEqual([]);
  });
});
