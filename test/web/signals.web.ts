import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const WATCHER = 'watcher-of-the-console';

let stage: Stage;
let lapi: ReturnType<typeof signalClient>;
let keeper: Visitor;

async function push(from: number, count: number, overrides: Record<string, unknown> = {}): Promise<void> {
  const signals = Array.from({ length: count }, (_, index) => sampleSignal(from + index, overrides));
  expect((await lapi.push(signals)).status).toBe(200);
}

beforeAll(async () => {
  stage = await openStage();
  lapi = signalClient(stage.stack.base, WATCHER);
  await lapi.login();
  await push(0, 12);
  keeper = await stage.visit('/', stage.key);
});
afterAll(() => stage?.close());

describe('the signals, in the browser', () => {
  it('leads from each figure of the overview to its list', async () => {
    const { page } = keeper;
    await page.getByRole('heading', { level: 1, name: 'Overview of signals' }).waitFor();
    await page.getByRole('link', { name: /^Forwarded\s*12$/ }).click();
    await page.getByText('12 alerts loaded').waitFor();
    expect(page.url()).toContain('state=forwarded');
  });

  it('leads from a day of the chart to the alerts of that day', async () => {
    const { page } = keeper;
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('The days as links').click();
    await page.getByRole('navigation', { name: 'Alerts per day (UTC)' }).getByRole('link').first().click();
    await page.getByText('12 alerts loaded').waitFor();
    expect(page.url()).toMatch(/since=.*until=/);
    await page.getByRole('link', { name: 'Alerts', exact: true }).click();
    await until('no filter is left', async () => (await page.getByLabel('Since').inputValue()) === '');
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
  });

  it('announces new alerts without moving the rows that one reads', async () => {
    const { page } = keeper;
    await page.getByRole('link', { name: 'Alerts', exact: true }).click();
    await page.getByText('12 alerts loaded').waitFor();
    await push(12, 3, { scenario: 'crowdsecurity/http-probing' });
    const shown = page.getByRole('button', { name: 'Show 3 new alerts' });
    await shown.waitFor();
    expect(await page.getByRole('link', { name: 'crowdsecurity/http-probing' }).count()).toBe(0);
    await shown.click();
    await page.getByText('15 alerts loaded').waitFor();
    expect(await page.getByRole('link', { name: 'crowdsecurity/http-probing' }).count()).toBe(3);
  });

  it('shows an alert whole', async () => {
    const { page } = keeper;
    await page.getByRole('link', { name: 'crowdsecurity/http-probing' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'crowdsecurity/http-probing' }).waitFor();
    await page.getByRole('region', { name: 'Decisions' }).getByText('ban').first().waitFor();
    expect(await page.getByRole('region', { name: 'As it came in' }).textContent()).toContain('"machine_id"');
  });

  it('tries a rule on stored alerts before it is in force, and shows it once it is', async () => {
    const { page } = keeper;
    await page.getByRole('link', { name: 'Rules' }).click();
    const condition = { field: 'scenario', op: 'eq', value: 'crowdsecurity/http-probing' };
    await page.getByRole('textbox', { name: 'Condition (JSON)' }).fill('{');
    await page.getByText('This is no JSON').waitFor();
    await page.getByRole('textbox', { name: 'Condition (JSON)' }).fill(JSON.stringify(condition));
    await page.getByRole('button', { name: 'Run' }).click();
    const outcome = page.getByText('Matches 3 of 15 alerts.');
    await outcome.waitFor();
    // What was found for one condition does not stand under another.
    const other = { ...condition, value: 'crowdsecurity/none' };
    await page.getByRole('textbox', { name: 'Condition (JSON)' }).fill(JSON.stringify(other));
    await outcome.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New rule' }).click();
    const editor = page.getByRole('dialog', { name: 'New rule' });
    const text = editor.getByRole('textbox', { name: 'Text of the rule' });
    await text.fill('name: probing\nfilter:\n  field: scenario\n  op: sounds-like\n  value: probing\n');
    await editor.getByText('This cannot be used').waitFor();
    expect(await editor.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await text.fill(JSON.stringify({ name: 'probing', filter: condition }));
    await editor.getByRole('button', { name: 'Run' }).click();
    await editor.getByText('Matches 3 of 15 alerts.').waitFor();
    await editor.getByRole('button', { name: 'Save' }).click();
    await editor.waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'probing' }).first().waitFor();
    await push(15, 2, { scenario: 'crowdsecurity/http-probing' });
    await page.getByRole('link', { name: 'Alerts', exact: true }).click();
    await page.getByText('Held back', { exact: true }).first().click();
    await page.getByText('2 alerts loaded').waitFor();
  });

  it('brings back the rules of an earlier version', async () => {
    const { page } = keeper;
    await page.getByRole('link', { name: 'Rules' }).click();
    const rule = page.getByRole('article', { name: 'probing' });
    await page.getByRole('button', { name: 'Delete: probing' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No rule is saved here').waitFor();
    await rule.first().waitFor({ state: 'detached' });
    await push(17, 1, { scenario: 'crowdsecurity/http-probing' });
    await page.getByText('Earlier versions').click();
    await page.getByRole('button', { name: 'Bring back: 1', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Bring back' });
    await question.getByText('The rules of version 1 are saved again and are in force.').waitFor();
    await question.getByRole('button', { name: 'Bring back' }).click();
    await rule.first().waitFor();
    await push(18, 1, { scenario: 'crowdsecurity/http-probing' });
    await page.getByRole('link', { name: 'Alerts', exact: true }).click();
    await page.getByText('Held back', { exact: true }).first().click();
    // two from before, and the one after; between them there was no rule
    await page.getByText('3 alerts loaded').waitFor();
  });

  it('saves a rule after others have saved theirs, once it is opened again', async () => {
    const { page } = keeper;
    await page.getByRole('link', { name: 'Rules' }).click();
    const text = JSON.stringify({ name: 'quiet', filter: { field: 'scenario', op: 'eq', value: 'none' } });
    const editor = page.getByRole('dialog', { name: 'New rule' });
    const write = async (): Promise<void> => {
      await page.getByRole('button', { name: 'New rule' }).click();
      await editor.getByRole('textbox', { name: 'Text of the rule' }).fill(text);
    };
    await write();
    const headers = { 'x-api-key': stage.key, authorization: '', 'content-type': 'application/json' };
    const path = '/api/filters/saved';
    const present = await stage.stack.request(path, { headers });
    const { version, rules } = (await present.json()) as { version: number; rules: { text: string }[] };
    const saved = await stage.stack.request(path, {
      method: 'PUT',
      headers: { ...headers, 'if-match': `"${version}"` },
      body: JSON.stringify({ rules: rules.map((rule) => ({ text: rule.text })), note: 'by others' }),
    });
    expect(saved.status).toBe(200);
    const readAnew = page.waitForResponse(
      (response) => response.url().endsWith(path) && response.request().method() === 'GET',
    );
    await editor.getByRole('button', { name: 'Save' }).click();
    await editor.getByText('The rules were changed meanwhile.').waitFor();
    await readAnew;
    // Neither throws away what was typed.
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await editor.getByRole('textbox', { name: 'Text of the rule' }).inputValue()).toBe(text);
    await editor.getByRole('button', { name: 'Cancel' }).click();
    await editor.waitFor({ state: 'detached' });
    await write();
    await editor.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('article', { name: 'quiet' }).first().waitFor();
  });

  it('shows the line of waiting signals grow while the central API is away, and drain afterwards', async () => {
    const { page } = keeper;
    await stage.capi.refuse();
    await push(100, 7);
    await page.getByRole('link', { name: 'Forwarding' }).click();
    await page.getByText(/^The central API does not take signals:/).waitFor();
    const card = page.getByRole('article', { name: WATCHER });
    await card.getByText(/^7, oldest/).waitFor();
    await stage.capi.listen();
    await card.getByRole('button', { name: 'Try now' }).click();
    await page.getByText('The central API takes signals.').waitFor();
    await card.getByText('0', { exact: true }).first().waitFor();
    expect(stage.capi.received().flatMap(({ items }) => items).length).toBe(15 + 1 + 7);
  });

  it('lets times age while what they tell of stays as it is', async () => {
    const { page, close } = await stage.visit('/', stage.key);
    await page.clock.install();
    await page.goto(`${stage.stack.base}/app/signals/alerts`);
    const at = page.locator('main time').first();
    await at.waitFor();
    await page.clock.fastForward('02:00:00');
    await page.getByText('2 hours ago').first().waitFor();
    await close();
  });

  it('filters by an address once it is whole, and offers to for addresses alone', async () => {
    const { page } = keeper;
    const login = 'crowdsecurity/login-bf';
    await push(200, 1, { scenario: login, source: { scope: 'Username', value: 'root' } });
    await page.goto(`${stage.stack.base}/app/signals/alerts`);
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    });
    const address = page.getByRole('textbox', { name: 'Address' });
    await address.fill('203.0.113.');
    await page.waitForURL((url) => url.searchParams.get('ip') === '203.0.113.');
    const noEffect = page.getByText('One whole address, no range: it has no effect yet');
    await noEffect.waitFor();
    await address.fill('203.0.113.1');
    await page.waitForResponse(
      (response) => new URL(response.url()).searchParams.get('ip') === '203.0.113.1',
    );
    await page.waitForURL((url) => url.searchParams.get('ip') === '203.0.113.1');
    await noEffect.waitFor({ state: 'detached' });
    expect(refused).toEqual([]);
    await page.getByRole('link', { name: 'crowdsecurity/ssh-bf' }).first().click();
    await page.getByRole('link', { name: 'Other alerts of this address' }).waitFor();
    await page.goto(`${stage.stack.base}/app/signals/alerts?scenario=login-bf`);
    await page.getByRole('link', { name: login }).click();
    await page.getByRole('region', { name: 'Source' }).getByText('root').waitFor();
    expect(await page.getByRole('link', { name: 'Other alerts of this address' }).count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Who is behind the address' }).count()).toBe(0);
  });

  it('does not say that there are no alerts when they cannot be read', async () => {
    const { page } = keeper;
    await page.route(/\/api\/alerts\?/, (route) => route.fulfill({ status: 500, body: '' }));
    await page.goto(`${stage.stack.base}/app/signals/alerts`);
    await page
      .getByRole('alert')
      .getByText(/^The server has a problem/)
      .waitFor();
    expect(await page.getByText('No alert matches', { exact: true }).count()).toBe(0);
    await page.unrouteAll();
  });

  it('has nothing for whoever has no key', async () => {
    const other = await stage.visit('/signals/alerts', stage.stack.token);
    await other.page.getByText('There is no such page.').waitFor();
    const { page } = other;
    const status: unknown = await page.evaluate(`fetch('/api/alerts').then(({ status }) => status)`);
    expect(status).toBe(401);
    expect([...other.faults, ...keeper.faults]).toEqual([]);
    await other.close();
  });
});
