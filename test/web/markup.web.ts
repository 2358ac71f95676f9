import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { documentClient } from '../support/document-client.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { CALLED, PAYLOADS } from './support/payloads.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const PARTITION = 'payloads';
const ALL = 'all';
/** Facts of a network, of which the alert page shows each. */
const WHOIS_FACTS = 3;
const IN_A_NAME = 3;
const SOME = PAYLOADS.filter((_payload, index) => index % 10 === 0);

/** All of them, a few in each answer: more would end at the length that an answer may have. */
const IN_AN_ANSWER = 4;
const ANSWERS = PAYLOADS.flatMap((_payload, index) =>
  index % IN_AN_ANSWER === 0 ? [PAYLOADS.slice(index, index + IN_AN_ANSWER)] : [],
);

/** All of them, a few in each name: a file for each would be indexed for longer than it is looked at. */
const NAMES = PAYLOADS.flatMap((_payload, index) =>
  index % IN_A_NAME === 0 ? [PAYLOADS.slice(index, index + IN_A_NAME).join(' ')] : [],
);

let models: ScriptedModelServer;
let rdap: Server;
let stage: Stage;
let visitor: Visitor;
/** What the model says, whatever it is asked for: it also rewrites questions. */
let answer = '';
/** Which payloads ran, by what called. */
let ran: string[] = [];

/** A registry that says nothing but payloads: other ones each time. */
function openRegistry(): Promise<Server> {
  let next = 0;
  const payload = (): string => PAYLOADS[next++ % PAYLOADS.length]!;
  const server = createServer((_request, response) => {
    const card = [
      'vcard',
      [
        ['fn', {}, 'text', payload()],
        ['email', {}, 'text', payload()],
      ],
    ];
    const entities = ['registrant', 'abuse'].map((role) => ({ roles: [role], vcardArray: card }));
    response.writeHead(200, { 'content-type': 'application/rdap+json' }).end(
      JSON.stringify({
        objectClassName: 'ip network',
        name: payload(),
        handle: payload(),
        country: payload(),
        startAddress: payload(),
        endAddress: payload(),
        remarks: [{ description: [payload()] }],
        entities,
      }),
    );
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Brings each row of a list of any length into sight. */
async function scrollThrough(page: Page, name: string): Promise<string> {
  const frame = page.getByRole('region', { name, exact: true });
  await frame.waitFor();
  let seen = '';
  for (let top = 0; ; top += 400) {
    // drawn with the next frame
    const atTheEnd: unknown = await page.evaluate(`new Promise((done) => {
      const frame = document.querySelector('[aria-label="${name}"]');
      frame.scrollTop = ${top};
      const atTheEnd = frame.scrollTop + frame.clientHeight >= frame.scrollHeight - 1;
      requestAnimationFrame(() => requestAnimationFrame(() => done(atTheEnd)));
    })`);
    seen += (await frame.textContent()) ?? '';
    if (atTheEnd === true) return seen;
  }
}

beforeAll(async () => {
  models = await startScriptedModelServer({ answer: () => answer, contextTokens: 32_000 });
  rdap = await openRegistry();
  stage = await openStage({
    LLM_PROVIDER: 'openai',
    BASE_URL: models.url,
    MODEL: models.models.llm,
    OLLAMA_HOST: '',
    RDAP_URL: `http://127.0.0.1:${(rdap.address() as AddressInfo).port}/`,
  });
  const { stack } = stage;
  const documents = documentClient(stack);
  await stack.request(`/partition/${PARTITION}`, { method: 'POST' });
  const everything = PAYLOADS.map((payload) => `${payload}\n\nAbout gulls.`).join('\n\n');
  const notes = Object.fromEntries(PAYLOADS.map((payload, index) => [`note_${index}`, payload]));
  const tasks = await Promise.all([
    documents.upload('POST', PARTITION, ALL, everything, 'all.txt', notes),
    ...NAMES.map((name, index) =>
      documents.upload('POST', PARTITION, `payload-${index}`, `${name}\n\nGulls.`, `${name}.txt`, {
        author: name,
      }),
    ),
  ]);
  for (const task of tasks) expect((await documents.ended(task)).task_state).toBe('COMPLETED');
  const lapi = signalClient(stack.base, 'watcher');
  await lapi.login();
  const signals = PAYLOADS.map((payload, index) => {
    const ip = `9.9.${Math.floor(index / 250)}.${index % 250}`;
    const source = {
      scope: 'Ip',
      value: ip,
      ip,
      cn: 'FR',
      as_name: payload,
      as_number: payload,
      range: payload,
    };
    return sampleSignal(index, { scenario: payload, machine_id: payload, message: payload, source });
  });
  expect((await lapi.push(signals)).status).toBe(200);

  visitor = await stage.visit('/', stack.token);
  await visitor.page.context().exposeBinding(CALLED, ({ page }) => void ran.push(page.url()));
  const { page } = visitor;
  await page.getByRole('button', { name: /^Signed in as/ }).click();
  await page.getByRole('menuitem', { name: 'Add access' }).click();
  await page.getByLabel('Token or key').fill(stage.key);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('link', { name: 'Alerts', exact: true }).waitFor();
});
afterAll(async () => {
  await stage?.close();
  rdap?.close();
  await models?.close();
});

async function open(path: string): Promise<Page> {
  await visitor.page.goto(`${stage.stack.base}/app${path}`);
  return visitor.page;
}

function expectNothingRan(): void {
  expect(ran).toEqual([]);
  expect(visitor.faults).toEqual([]);
}

describe(`${PAYLOADS.length} texts that would run as markup`, () => {
  it('run where a page takes them for markup, or these tests would see nothing', async () => {
    const other = await stage.visit('/sign-in');
    await other.page.context().exposeBinding(CALLED, ({ page }) => void ran.push(page.url()));
    for (const payload of PAYLOADS) {
      const form = `<!doctype html><body>${payload}`;
      await other.page.goto(`data:text/html,${encodeURIComponent(form)}`, { waitUntil: 'commit' });
      await other.page.evaluate('new Promise((done) => setTimeout(done, 5))').catch(() => undefined);
    }
    await other.close();
    expect(ran.length).toBeGreaterThan(PAYLOADS.length / 2);
    ran = [];
  });

  it('stand as texts in file names, metadata and document texts', async () => {
    const page = await open(`/partitions/${PARTITION}`);
    await page.getByText(`${NAMES.length + 1} of ${NAMES.length + 1} files`).waitFor();
    const names = await scrollThrough(page, 'Files');
    expect(names).toContain('onerror=');
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('all.txt');
    await page.getByRole('button', { name: `Actions: ${ALL}` }).click();
    await page.getByRole('menuitem', { name: 'Metadata' }).click();
    const values = page.getByRole('dialog').getByRole('textbox', { name: 'Value' });
    await values.first().waitFor();
    expect(await values.count()).toBeGreaterThanOrEqual(PAYLOADS.length);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'all.txt' }).click();
    await page.getByRole('region', { name: 'Extracts' }).waitFor();
    expect(await scrollThrough(page, 'Extracts')).toContain(PAYLOADS[17]);
    await open('/search?q=gulls&n=50');
    await page.getByText(/^[345]\d passages/).waitFor();
    await open('/tasks');
    await page.getByRole('table').first().waitFor();
    expectNothingRan();
  });

  it('stand as texts in the answer of a model', async () => {
    const page = await open('/chat');
    for (const [index, payloads] of ANSWERS.entries()) {
      answer = ['One:', ...payloads].join('\n\n');
      await page.getByRole('textbox', { name: 'Your question' }).fill(`What of ${payloads.join(' ')}`);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Copy' }).nth(index).waitFor();
    }
    const shown = page.getByRole('article', { name: 'Answer' });
    const texts = await shown.allTextContents();
    expect(texts.filter((text) => text.includes('One:')).length).toBe(ANSWERS.length);
    expect(texts.join(' ')).toContain('onerror');
    const addresses: unknown = await page.evaluate(
      `[...document.querySelectorAll('article[aria-label="Answer"] a')].map((link) => link.getAttribute('href'))`,
    );
    expect((addresses as string[]).filter((address) => !/^(https?:|mailto:)/i.test(address))).toEqual([]);
    for (const source of (await shown.getByRole('button', { name: /^Source \d+: / }).all()).slice(0, 3)) {
      await source.click();
      await page.getByRole('dialog').getByRole('link', { name: 'Open in the file' }).waitFor();
      await page.keyboard.press('Escape');
    }
    expect(await page.getByText('it may not be longer').count()).toBe(0);
    models.models.finish = 'length';
    await page.getByRole('textbox', { name: 'Your question' }).fill('And what else?');
    await page.keyboard.press('Enter');
    await page.getByText('it may not be longer').waitFor();
    expectNothingRan();
  });

  it('stand as texts in scenarios, machine ids and what registries say', async () => {
    const page = await open('/signals/alerts');
    await page.getByText(`${PAYLOADS.length} alerts loaded`).waitFor();
    expect(await scrollThrough(page, 'Alerts')).toContain('onerror=');
    await open('/signals');
    await page.getByRole('img').first().waitFor();
    const alerts = (await (
      await stage.stack.request('/api/alerts?limit=100', {
        headers: { 'x-api-key': stage.key, authorization: '' },
      })
    ).json()) as { id: number }[];
    for (const { id } of alerts.slice(0, Math.ceil(PAYLOADS.length / (WHOIS_FACTS * 3)))) {
      await open(`/signals/alerts/${id}`);
      await page.getByRole('button', { name: 'Look it up' }).click();
      await page.getByText('Organisation', { exact: true }).waitFor();
    }
    await open('/signals/rules');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText(/^Matches \d+ of/).waitFor();
    expectNothingRan();
  });

  it.each([
    ['/search?q=', ''],
    ['/search?q=gulls&filter=', ''],
    ['/signals/alerts?scenario=', ''],
    ['/partitions/', ''],
    ['/sign-in?next=', ''],
  ])('stand as texts where the address holds them: %s', async (path) => {
    for (const payload of SOME) {
      const page = await open(`${path}${encodeURIComponent(payload)}`);
      await page.locator('#root h1').first().waitFor();
    }
    expectNothingRan();
  });
});
