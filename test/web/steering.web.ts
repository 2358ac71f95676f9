import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const WATCHER = 'harbour';
const REFUSED = 'crowdsecurity/never-taken';

let stage: Stage;
let lapi: ReturnType<typeof signalClient>;
let keeper: Visitor;
beforeAll(async () => {
  stage = await openStage();
  lapi = signalClient(stage.stack.base, WATCHER);
  await lapi.login();
  stage.capi.behave({ kind: 'marked-items', marker: REFUSED, status: 400 });
  await lapi.push([
    ...Array.from({ length: 6 }, (_, index) => sampleSignal(index)),
    sampleSignal(1),
    sampleSignal(7, { scenario: REFUSED }),
    { scenario: 1 },
  ]);
  keeper = await stage.visit('/', stage.key);
});
afterAll(() => stage?.close());

async function open(path: string): Promise<Page> {
  await keeper.page.goto(`${stage.stack.base}/app${path}`);
  return keeper.page;
}

function taken(): number {
  return stage.capi.received().flatMap(({ items }) => items).length;
}

describe('what is refused, held and looked up, in the browser', () => {
  it('sends or discards what is in quarantine', async () => {
    const page = await open('/signals/forwarding');
    const quarantine = page.getByRole('region', { name: 'Quarantine' });
    const refused = quarantine.getByRole('row').filter({ hasText: REFUSED });
    await refused.waitFor();
    stage.capi.behave();
    await refused.getByRole('button', { name: 'Send after all' }).click();
    await refused.waitFor({ state: 'detached' });
    await until('it was sent', async () => taken() === 8);
    await quarantine.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await quarantine.getByText('Nothing is in quarantine.').waitFor();
  });

  it('pauses a watcher, whose signals wait, and lets it go on', async () => {
    const page = await open('/signals/forwarding');
    const card = page.getByRole('article', { name: WATCHER });
    await card.getByRole('button', { name: 'Pause' }).click();
    await card.getByText(/^Paused/).waitFor();
    await lapi.push([sampleSignal(20)]);
    await card.getByText(/^1, oldest/).waitFor();
    expect(taken()).toBe(8);
    await card.getByRole('button', { name: 'Resume' }).click();
    await until('it was sent', async () => taken() === 9);
  });

  it('leads from a country of the map, a scenario and a period to what they say', async () => {
    let page = await open('/signals');
    await page.getByText('7 days', { exact: true }).click();
    await until('the address says so', async () => page.url().includes('period=7d'));
    await page
      .getByRole('group', { name: 'Alerts by country' })
      .getByRole('link', { name: /^France: \d+$/ })
      .focus();
    await page.keyboard.press('Enter');
    await page.getByText(/alerts loaded/).waitFor();
    expect(page.url()).toContain('country=FR');
    page = await open('/signals');
    await page.getByRole('link', { name: REFUSED }).click();
    await page.getByText('1 alerts loaded').waitFor();
  });

  it('leads from an alert to the others of its address', async () => {
    const page = await open('/signals/alerts?ip=203.0.113.1');
    await page.getByText('2 alerts loaded').waitFor();
    await page.getByRole('table', { name: 'Alerts' }).getByRole('link').first().click();
    await page.getByRole('link', { name: 'Other alerts of this address' }).click();
    await page.getByText('2 alerts loaded').waitFor();
    expect(page.url()).toContain('ip=203.0.113.1');
  });

  it('folds the filters on a narrow screen, and says how many are set', async () => {
    const { page, faults, close } = await stage.visit('/signals/alerts', stage.key, {
      viewport: { width: 390, height: 844 },
    });
    const button = page.getByRole('button', { name: /^Filters/ });
    await button.waitFor();
    expect(await page.getByLabel('Since').isVisible()).toBe(false);
    const table = page.getByRole('region', { name: 'Alerts' });
    await table.waitFor();
    expect((await table.boundingBox())!.y).toBeLessThan(400);
    await button.click();
    await page.getByRole('textbox', { name: 'Address' }).fill('203.0.113.1');
    await page.getByRole('button', { name: 'Filters (1)' }).click();
    await page.getByText('2 alerts loaded').waitFor();
    expect([...faults, ...keeper.faults]).toEqual([]);
    await close();
  });
});
