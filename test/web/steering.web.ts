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

  it('releases or gives up what was deferred until nothing is left of it', async () => {
    const page = await open('/');
    let enabled = true;
    await page.route('**/api/forwarding', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { watchers: object[] };
      const watchers = body.watchers.map((watcher) => ({ ...watcher, deferred: 3, withheld: 2 }));
      await route.fulfill({ response, json: { ...body, enabled, watchers } });
    });
    const asked: string[] = [];
    await page.route(/\/api\/forwarding\/[^/]+\/(?:release|discard)$/, async (route) => {
      asked.push(`${route.request().url().split('/').at(-1)} ${route.request().postData() ?? ''}`);
      const left = asked.length % 2 === 1;
      await route.fulfill({ json: { watcher: WATCHER, released: 1, discarded: 1, left } });
    });
    const card = (await open('/signals/forwarding')).getByRole('article', { name: WATCHER });
    await card.getByRole('button', { name: 'Send what was withheld' }).click();
    await until('it was asked until nothing was left', async () => asked.length === 2);
    enabled = false;
    await page.reload();
    await card.getByRole('button', { name: 'Discard what was withheld' }).click();
    expect(await card.getByRole('button', { name: 'Send what was withheld' }).count()).toBe(0);
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/Give up 3 signals of harbour/).waitFor();
    await dialog.getByRole('textbox').fill('off for good');
    await dialog.getByRole('button', { name: 'Discard what was withheld' }).click();
    await until('it was asked until nothing was left', async () => asked.length === 4);
    const given = 'discard {"reason":"off for good","deferred":true}';
    expect(asked).toEqual(['release ', 'release ', given, given]);
    await page.unrouteAll({ behavior: 'wait' });
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
