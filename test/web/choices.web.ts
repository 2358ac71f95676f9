import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { until } from '../support/until.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const PARTITION = 'ferry';
const ROPES = { name: 'ropes.md', text: 'The ferry needs a new rope each spring.' };
const BELLS = { name: 'bells.md', text: 'The ferry rings its bell twice when it leaves.' };

let stage: Stage;
let keeper: Visitor;
let ada: { token: string };
beforeAll(async () => {
  stage = await openStage();
  const documents = documentClient(stage.stack);
  await stage.stack.request(`/partition/${PARTITION}`, { method: 'POST' });
  for (const { name, text } of [ROPES, BELLS])
    await documents.ended(await documents.upload('POST', PARTITION, name, text, name));
  const { body } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
    display_name: 'Ada of the ferry',
  });
  ada = body;
  keeper = await stage.visit('/', stage.stack.token);
});
afterAll(() => stage?.close());

async function open(path: string, { page }: Visitor = keeper): Promise<Page> {
  await page.goto(`${stage.stack.base}/app${path}`);
  return page;
}

/** Answers the question that a button asks before it does something. */
async function confirm(page: Page, button: Locator, label: string): Promise<void> {
  await button.click();
  await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click();
}

async function choose(page: Page, select: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: select }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

describe('who may do what in a partition, in the browser', () => {
  it('lets a reader read, an editor upload, and whoever is removed see nothing', async () => {
    const settings = `/partitions/${PARTITION}/settings`;
    let page = await open(settings);
    const member = page.getByRole('combobox', { name: 'Add a member' });
    await member.pressSequentially('Ada');
    await page.getByRole('option', { name: /^Ada of the ferry/ }).click();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: 'Ada' });
    await row.waitFor();

    const hers = await stage.visit('/partitions', ada.token);
    const card = hers.page.getByRole('article').filter({ hasText: PARTITION });
    await card.getByText('reader', { exact: true }).waitFor();
    expect(await card.getByRole('button', { name: 'Delete partition' }).count()).toBe(0);
    await open(`/partitions/${PARTITION}`, hers);
    await hers.page.getByText('2 of 2 files').waitFor();
    const area = hers.page.getByRole('button', { name: 'Drop files or folders here' });
    expect(await area.count()).toBe(0);

    await choose(page, 'Role: Ada of the ferry', 'editor');
    await until('she may upload', async () => {
      await open(`/partitions/${PARTITION}`, hers);
      await hers.page.getByText('2 of 2 files').waitFor();
      return (await area.count()) === 1;
    });
    page = await open(settings);
    await confirm(page, row.getByRole('button', { name: 'Remove' }), 'Remove');
    await row.waitFor({ state: 'detached' });
    await open('/partitions', hers);
    await hers.page.getByText('You have no partition yet').waitFor();
    expect(hers.faults).toEqual([]);
    await hers.close();
  });

  it('shows the description as it was saved when one comes back to it', async () => {
    const page = await open(`/partitions/${PARTITION}/settings`);
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('What the ferry carries.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved').waitFor();
    await page.getByRole('link', { name: /Files of the partition/ }).click();
    await page.getByRole('link', { name: 'Settings and members' }).click();
    await description.waitFor();
    expect(await description.inputValue()).toBe('What the ferry carries.');
  });

  it('keeps the description that is typed while it is saved, and while somebody else saves one', async () => {
    const page = await open(`/partitions/${PARTITION}/settings`);
    const description = page.getByRole('textbox', { name: 'Description' });
    const save = page.getByRole('button', { name: 'Save', exact: true });
    let goOn: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const path = `/partition/${PARTITION}`;
    await page.route(
      (url) => url.pathname === path,
      async (route) => {
        if (route.request().method() !== 'PATCH') return route.fallback();
        await held;
        const response = await route.fetch();
        await askStack(stage.stack, 'PATCH', path, { description: 'What somebody else says of it.' });
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await description.fill('What the ferry carries in spring.');
    const asked = page.waitForRequest((request) => request.method() === 'PATCH');
    await save.click();
    await asked;
    await description.fill('What the ferry carries in autumn.');
    const config = page.waitForResponse((response) => response.url().endsWith(`${path}/config`));
    goOn?.();
    await config;
    await until('it can be saved again', () => save.isEnabled());
    expect(await description.inputValue()).toBe('What the ferry carries in autumn.');
    await save.click();
    await until('it is stored', async () => {
      const { body } = await askStack<{ description: string }>(stage.stack, 'GET', `${path}/config`);
      return body.description === 'What the ferry carries in autumn.';
    });
  });

  it('asks before a partition goes with all that is in it', async () => {
    expect((await stage.stack.request('/partition/old', { method: 'POST' })).status).toBe(201);
    const page = await open('/partitions');
    const card = page.getByRole('article').filter({ has: page.getByRole('link', { name: 'old' }) });
    await confirm(page, card.getByRole('button', { name: 'Delete partition' }), 'Delete partition');
    await card.waitFor({ state: 'detached' });
    expect((await stage.stack.request('/partition/old')).status).toBe(404);
  });
});

describe('what questions are about, in the browser', () => {
  it('asks a single file, and evaluates by questions from a file', async () => {
    let page = await open(`/partitions/${PARTITION}/files/${BELLS.name}`);
    await page.getByRole('link', { name: 'Ask about this file' }).click();
    await page.getByText('Only this file').waitFor();
    await page.getByRole('textbox', { name: 'Your question' }).fill('What does the ferry need each spring?');
    await page.keyboard.press('Enter');
    const answer = page.getByRole('article', { name: 'Answer' });
    await answer.getByRole('button', { name: 'Copy' }).waitFor();
    expect(await answer.textContent()).not.toContain('rope');

    page = await open(`/evaluation/${PARTITION}`);
    await page.getByRole('button', { name: 'Upload questions' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name of the set' }).fill('crossing');
    const upload = async (content: Buffer): Promise<void> => {
      const chosen = page.waitForEvent('filechooser');
      await dialog.getByRole('button', { name: 'File' }).click();
      const file = { name: 'crossing.jsonl', mimeType: 'application/jsonl', buffer: content };
      await (await chosen).setFiles(file);
      await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    };
    await upload(Buffer.from('{"question":"Quand le café ouvre-t-il ?","relevant":["a"]}\n', 'latin1'));
    await dialog.getByText('The file is not UTF-8.').waitFor();
    await upload(Buffer.from('{"question":'));
    await dialog.getByRole('alert').getByText(/1/).waitFor();
    const right = `{"question":"What does the ferry need?","relevant":["${ROPES.name}"]}\n`;
    await upload(Buffer.from(right));
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Question sets' }).getByText('crossing').waitFor();
  });
});

describe('how a question is searched, in the browser', () => {
  it('asks by the preset that is chosen, and keeps the choice with the conversation', async () => {
    const preset = await askStack(stage.stack, 'POST', '/presets/', {
      name: 'one-passage',
      preset_type: 'retrieval',
      config: { type: 'single', top_k: 1, top_n: 1 },
    });
    expect(preset).toMatchObject({ status: 201 });
    const page = await open('/chat');
    await choose(page, 'Search preset', 'one-passage');
    const asked = page.waitForRequest('**/v1/chat/completions');
    await page.getByRole('textbox', { name: 'Your question' }).fill('What does the ferry need each spring?');
    await page.keyboard.press('Enter');
    expect((await asked).postDataJSON()).toMatchObject({ metadata: { preset: 'one-passage' } });
    await page.getByRole('article', { name: 'Answer' }).getByRole('button', { name: 'Copy' }).waitFor();
    await page.waitForURL('**/chat/*');
    await page.reload();
    await page.getByRole('article', { name: 'Answer' }).waitFor();
    const chosen = page.getByRole('combobox', { name: 'Search preset' });
    await until('the choice is shown', async () => (await chosen.inputValue()) === 'one-passage');
  });

  it('keeps a conversation that was deleted elsewhere as a new one', async () => {
    const page = await open('/chat');
    const ask = async (question: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Your question' }).fill(question);
      await page.keyboard.press('Enter');
    };
    await ask('When does the ferry ring its bell?');
    await page.waitForURL('**/chat/*');
    const first = page.url();
    const id = first.split('/').at(-1);
    await page.getByRole('article', { name: 'Answer' }).getByRole('button', { name: 'Copy' }).waitFor();
    const { status } = await askStack(stage.stack, 'DELETE', `/users/me/conversations/${id}`);
    expect(status).toBe(204);
    await ask('What does it need each spring?');
    await page
      .getByRole('article', { name: 'Answer' })
      .nth(1)
      .getByRole('button', { name: 'Copy' })
      .waitFor();
    await page.getByRole('button', { name: 'Keep mine as a new conversation' }).click();
    await page.waitForURL((url) => url.href !== first && /\/chat\/./.test(url.pathname));
    await page.reload();
    await page.getByRole('article', { name: 'Answer' }).nth(1).waitFor();
  });
});

describe('what an administrator looks after, in the browser', () => {
  it('adds the endpoint of a model, is told that it does not answer, and deletes it', async () => {
    const page = await open('/models');
    await page.getByRole('button', { name: 'New endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('far-away');
    await dialog.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    const endpoint = page.getByRole('article', { name: 'far-away' });
    await endpoint.getByRole('button', { name: 'Check' }).click();
    await endpoint.getByText(/^The server does not answer\./).waitFor();
    await confirm(page, endpoint.getByRole('button', { name: 'Delete' }), 'Delete');
    await endpoint.waitFor({ state: 'detached' });
  });

  it('gives a user a new token, after which the old one and its session end', async () => {
    const hers = await stage.visit('/', ada.token);
    const page = await open('/users');
    const row = page.getByRole('row').filter({ hasText: 'Ada of the ferry' });
    await confirm(page, row.getByRole('button', { name: 'New token' }), 'New token');
    const notice = page.getByRole('status').filter({ hasText: 'Token of Ada of the ferry' });
    const token = (await notice.locator('code').textContent()) ?? '';
    await hers.page.getByRole('link', { name: 'Tasks' }).click();
    await hers.page.getByLabel('Token or key').waitFor();
    await hers.page.getByLabel('Token or key').fill(token);
    await hers.page.getByRole('button', { name: 'Sign in' }).click();
    await hers.page.getByRole('button', { name: 'Signed in as Ada of the ferry' }).waitFor();
    await confirm(page, row.getByRole('button', { name: 'Delete' }), 'Delete');
    await row.waitFor({ state: 'detached' });
    expect(hers.faults).toEqual([]);
    await hers.close();
  });

  it('sets by a line of cron when a migration runs, and takes it away', async () => {
    const page = await open('/state');
    const schedules = page.getByRole('table', { name: 'Schedules' });
    const own = schedules.getByRole('row').filter({ hasText: 'Runs the migration vector-store in windows' });
    await own.getByText('not scheduled').waitFor();
    await own.getByRole('button', { name: 'Set the time' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'When' }).fill('every night');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText(/cron/).waitFor();
    await dialog.getByRole('textbox', { name: 'When' }).fill('0 3 * * *');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await own.getByText('0 3 * * *').waitFor();
    await own.getByRole('button', { name: 'Set the time' }).click();
    await dialog.getByRole('textbox', { name: 'When' }).fill('given up');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const schedule = '/admin/schedules/vector-store';
    const work = { window_minutes: 60, pages_per_second: 2 };
    expect((await askStack(stage.stack, 'PUT', schedule, { cron: '0 4 * * *', ...work })).status).toBe(200);
    await page.reload();
    await own.getByText('0 4 * * *').waitFor();
    await own.getByRole('button', { name: 'Set the time' }).click();
    expect(await dialog.getByRole('textbox', { name: 'When' }).inputValue()).toBe('0 4 * * *');
    await dialog.getByRole('textbox', { name: 'When' }).fill('0 5 * * *');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await own.getByText('0 5 * * *').waitFor();
    const { body } = await askStack<{ schedules: { name: string }[] }>(
      stage.stack,
      'GET',
      '/admin/schedules',
    );
    const changed = body.schedules.find(({ name }) => name === 'vector-store');
    expect(changed).toMatchObject({ cron: '0 5 * * *', ...work });
    await own.getByRole('button', { name: 'Set the time' }).click();
    await dialog.getByRole('button', { name: 'Take the time away' }).click();
    await own.getByText('not scheduled').waitFor();
  });

  it('looks at it dark, and finds it so in another window and after a reload', async () => {
    const page = await open('/state');
    const scheme = (of: Page) =>
      of.evaluate('document.documentElement.getAttribute("data-mantine-color-scheme")');
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: /dark/i }).click();
    await until('it is dark', async () => (await scheme(page)) === 'dark');
    const second = await page.context().newPage();
    await second.goto(`${stage.stack.base}/app/state`);
    await second.getByRole('heading', { level: 1 }).waitFor();
    expect(await scheme(second)).toBe('dark');
    await second.close();
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await scheme(page)).toBe('dark');
    expect(keeper.faults).toEqual([]);
  });
});

describe('files that are chosen, in the browser', () => {
  it('go into a workspace together, and are deleted together after one question', async () => {
    const ledger = 'ledgers';
    const documents = documentClient(stage.stack);
    await stage.stack.request(`/partition/${ledger}`, { method: 'POST' });
    const names = ['a.md', 'b.md', 'c.md', 'd.md'];
    for (const name of names)
      await documents.ended(await documents.upload('POST', ledger, name, `Of ${name}.`, name));
    await askStack(stage.stack, 'POST', `/partition/${ledger}/workspaces`, { workspace_id: 'spring' });
    const page = await open(`/partitions/${ledger}`);
    await page.getByRole('checkbox', { name: 'Choose a.md' }).check();
    await page.getByRole('checkbox', { name: 'Choose c.md' }).click({ modifiers: ['Shift'] });
    const bar = page.getByRole('group', { name: 'Chosen files' });
    await bar.getByText('3 files chosen').waitFor();
    await bar.getByRole('button', { name: 'Put into a workspace' }).click();
    const dialog = page.getByRole('dialog', { name: 'Put into a workspace' });
    await dialog.getByRole('combobox', { name: 'Workspace' }).click();
    await page.getByRole('option', { name: 'spring' }).click();
    await dialog.getByRole('button', { name: 'Put in', exact: true }).click();
    await page.getByText('3 files are in spring now.').waitFor();
    const path = `/partition/${ledger}/workspaces/spring/files`;
    const { body } = await askStack<{ file_ids: string[] }>(stage.stack, 'GET', path);
    expect(body.file_ids.toSorted()).toEqual(['a.md', 'b.md', 'c.md']);

    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('b.md');
    await page.getByText('1 of 4 files').waitFor();
    await bar.getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: 'Delete' });
    await question.getByText('2 of them are not shown by the filter.').waitFor();
    await question.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('');
    await page.getByText('1 of 1 files').waitFor();
    await until('they are deleted', async () => {
      const { body: rest } = await askStack<{ files: object[] }>(stage.stack, 'GET', `/partition/${ledger}`);
      return rest.files.length === 1;
    });
    expect(keeper.faults).toEqual([]);
  });
});
