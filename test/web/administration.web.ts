import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { until } from '../support/until.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

const PARTITION = 'ledger';
const FILE = 'accounts.md';

let location: string;
let stage: Stage;
let keeper: Visitor;
beforeAll(async () => {
  location = mkdtempSync(join(tmpdir(), 'tamis-web-backups-'));
  stage = await openStage({ BACKUP_LOCATION: location });
  const documents = documentClient(stage.stack);
  await stage.stack.request(`/partition/${PARTITION}`, { method: 'POST' });
  for (const [name, text] of [
    [FILE, 'The lighthouse burns 40 barrels of oil a year.'],
    ['other.md', 'The ferry needs a new rope each spring.'],
  ] as const)
    await documents.ended(await documents.upload('POST', PARTITION, name, text, name));
  await documents.ended(
    await documents.upload('POST', PARTITION, 'broken', '%PDF-1.7 no more', 'broken.pdf'),
  );
  keeper = await stage.visit('/', stage.stack.token);
});
afterAll(async () => {
  await stage?.close();
  rmSync(location, { recursive: true, force: true });
});

async function open(path: string): Promise<Page> {
  await keeper.page.goto(`${stage.stack.base}/app${path}`);
  return keeper.page;
}

/** Answers the question that a button asks before it does something. */
async function confirm(page: Page, button: Locator, label: string): Promise<void> {
  await button.click();
  await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click();
}

describe('what an owner sets, in the browser', () => {
  it('chooses presets and puts a file into a workspace that a question is then about', async () => {
    let page = await open(`/partitions/${PARTITION}/settings`);
    await page.getByRole('combobox', { name: 'Search preset' }).waitFor();
    await page.getByRole('textbox', { name: 'Name of the workspace' }).fill('accounts');
    await page.getByRole('region', { name: 'Workspaces' }).getByRole('button', { name: 'Create' }).click();
    await page.getByRole('cell', { name: 'accounts', exact: true }).waitFor();
    page = await open(`/partitions/${PARTITION}`);
    await page.getByRole('button', { name: `Actions: ${FILE}` }).click();
    await page.getByRole('menuitem', { name: 'Workspaces' }).click();
    const membership = page.getByRole('dialog').getByRole('checkbox', { name: 'accounts' });
    await membership.click();
    await until('the file is in it', async () => {
      const { body } = await askStack<{ file_ids: string[] }>(
        stage.stack,
        'GET',
        `/partition/${PARTITION}/workspaces/accounts/files`,
      );
      return body.file_ids.includes(FILE);
    });
    page = await open(`/chat?partition=${PARTITION}`);
    await page.getByRole('combobox', { name: 'Workspace' }).click();
    await page.getByRole('option', { name: 'accounts' }).click();
    await page
      .getByRole('textbox', { name: 'Your question' })
      .fill('How many barrels of oil does the lighthouse burn a year?');
    await page.keyboard.press('Enter');
    const answer = page.getByRole('article', { name: 'Answer' });
    await answer.getByRole('button', { name: 'Copy' }).waitFor();
    await answer.getByRole('button', { name: `Source 1: ${FILE}` }).waitFor();
    expect(await answer.getByText('other.md').count()).toBe(0);
  });

  it('chooses another embedder from those that there are, without being an administrator', async () => {
    const add = { name: 'far-away', model_type: 'embedder', endpoint: 'http://127.0.0.1:9' };
    expect((await askStack(stage.stack, 'POST', '/model-endpoints/', add)).status).toBe(201);
    const { body: ada } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Owner of hers',
    });
    const { page, faults, close } = await stage.visit('/', ada.token);
    await page.getByRole('button', { name: 'New partition' }).click();
    await page.getByRole('textbox', { name: 'Name of the partition' }).fill('hers');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: 'Settings and members' }).click();
    await page.getByRole('button', { name: 'Move to another embedder' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Embedder' }).click();
    expect(await page.getByRole('option').allTextContents()).toEqual(['far-away']);
    await page.getByRole('option', { name: 'far-away' }).click();
    await dialog.getByRole('button', { name: 'Move to another embedder' }).click();
    await page.getByText('From builtin-hash to far-away').waitFor();
    expect(faults).toEqual([]);
    await close();
    expect((await askStack(stage.stack, 'DELETE', '/partition/hers')).status).not.toBe(500);
  });

  it('groups failed tasks by their error, and offers to choose a failed file again', async () => {
    let page = await open('/tasks');
    const groups = page.getByRole('group', { name: 'Failed of:' }).getByRole('button');
    await groups.first().click();
    await page.getByRole('table', { name: 'Tasks' }).getByText('broken').waitFor();
    expect(await page.getByRole('table', { name: 'Tasks' }).getByText(FILE).count()).toBe(0);
    page = await open(`/partitions/${PARTITION}`);
    await page.getByRole('button', { name: '1 file could not be indexed' }).click();
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose the file again: broken' }).click();
    await (
      await chosen
    ).setFiles({ name: 'mended.md', mimeType: 'text/markdown', buffer: Buffer.from('It can be read now.') });
    await page.getByText('3 of 3 files').waitFor();
  });

  it('sends the file of a failed task again from the list of tasks', async () => {
    const documents = documentClient(stage.stack);
    await documents.ended(await documents.upload('POST', PARTITION, 'torn', '%PDF-1.7 no more', 'torn.pdf'));
    const page = await open('/tasks');
    const row = page.getByRole('table', { name: 'Tasks' }).getByRole('row').filter({ hasText: 'torn' });
    await row.getByRole('button', { name: 'Reason' }).click();
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('dialog').getByRole('button', { name: 'Choose the file again: torn' }).click();
    await (
      await chosen
    ).setFiles({ name: 'whole.md', mimeType: 'text/markdown', buffer: Buffer.from('It is whole again.') });
    await page.waitForURL(`**/partitions/${PARTITION}`);
    await page.getByText('4 of 4 files').waitFor();
  });
});

describe('what an administrator sets, in the browser', () => {
  it('writes presets and prompts, and is told what cannot be', async () => {
    const page = await open('/models');
    await page.getByRole('button', { name: 'New preset' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('wide');
    const config = dialog.getByRole('textbox', { name: 'Configuration (JSON)' });
    await config.fill('{"rrf_k": ');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('This is no JSON object.').waitFor();
    await config.fill('{"rrf_k": 0}');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText(/rrf_k/).waitFor();
    await config.fill('{"rrf_k": 90}');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const preset = page.getByRole('article', { name: 'searching: wide' });
    await preset.waitFor();
    await confirm(page, preset.getByRole('button', { name: 'Delete: wide' }), 'Delete');
    await preset.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'New prompt' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('short answers');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('Answer in one sentence from {context}.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('article', { name: 'short answers' })
      .getByText('answers', { exact: true })
      .waitFor();
  });

  it('changes the quota of a user', async () => {
    const page = await open('/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Ada');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('Token of Ada').waitFor();
    await page.getByRole('button', { name: 'Edit Ada' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Quota of files' }).fill('7');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '7', exact: true }).waitFor();
  });

  it('leaves what another administrator changed of a user meanwhile', async () => {
    const { body: eve } = await askStack<{ id: number }>(stage.stack, 'POST', '/users/', {
      display_name: 'Eve',
      is_admin: true,
    });
    const page = await open('/users');
    await page.getByRole('button', { name: 'Edit Eve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: 'Administrator' }).waitFor();
    await askStack(stage.stack, 'PATCH', `/users/${eve.id}`, { is_admin: false });
    await dialog.getByRole('textbox', { name: 'Quota of files' }).fill('500');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '500', exact: true }).waitFor();
    const { body } = await askStack(stage.stack, 'GET', `/users/${eve.id}`);
    expect(body).toMatchObject({ is_admin: false, file_quota: 500 });
  });

  it('stays signed in with a new token of its own, which is there to be copied', async () => {
    const { body: grace } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Grace',
      is_admin: true,
    });
    const { page, faults, close } = await stage.visit('/users', grace.token);
    // As a browser has it on plain HTTP at another machine.
    await page.evaluate('delete Navigator.prototype.clipboard');
    const row = page.getByRole('table', { name: 'Users' }).getByRole('row').filter({ hasText: 'Grace' });
    await row.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('dialog').getByText('signed out in other browsers').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'New token', exact: true }).click();
    const notice = page.getByRole('status').filter({ hasText: 'Token of Grace' });
    const token = await notice.locator('code').innerText();
    expect(token).not.toBe(grace.token);
    await notice.getByRole('button', { name: 'Copy' }).click();
    await notice.getByRole('button', { name: 'Copied' }).waitFor();
    await page.evaluate('document.execCommand = () => false');
    await notice.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText(/^The browser does not let this page copy/).waitFor();
    expect(await page.evaluate(`fetch('/app/session').then(({ status }) => status)`)).toBe(200);
    await row.getByRole('button', { name: 'Edit Grace' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Quota of files' }).fill('11');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await row.getByText('11', { exact: true }).waitFor();
    expect(await notice.locator('code').innerText()).toBe(token);
    expect(faults).toEqual([]);
    await close();
  });

  it('shows users what they may upload, and renews their own token', async () => {
    const { body: mary } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Mary',
      file_quota: 20,
    });
    const { page, faults, close } = await stage.visit('/', mary.token);
    await page.getByRole('button', { name: 'Signed in as Mary' }).click();
    await page.getByRole('menuitem', { name: 'My account' }).click();
    await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
    await page.getByText('0 of 20', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New token', exact: true }).click();
    const notice = page.getByRole('status').filter({ hasText: 'Token of Mary' });
    const token = await notice.locator('code').innerText();
    const asMary = (bearer: string) =>
      stage.stack.request('/users/info', { headers: { authorization: `Bearer ${bearer}` } });
    expect((await asMary(mary.token)).status).toBe(403);
    const response = await asMary(token);
    expect([response.status, await response.json()]).toMatchObject([200, { display_name: 'Mary' }]);
    expect(await page.evaluate(`fetch('/app/session').then(({ status }) => status)`)).toBe(200);
    await page.goto(`${stage.stack.base}/app/users`);
    await page.getByText('There is no such page.').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('does once what a double click confirms', async () => {
    await askStack(stage.stack, 'POST', '/users/', { display_name: 'Hopper' });
    const { page, close } = await stage.visit('/users', stage.stack.token, {
      reducedMotion: 'no-preference',
    });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && /regenerate_token/.test(request.url())) asked.push(request.url());
    });
    const row = page.getByRole('table', { name: 'Users' }).getByRole('row').filter({ hasText: 'Hopper' });
    await row.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'New token', exact: true }).dblclick();
    await page.getByRole('status').filter({ hasText: 'Token of Hopper' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(asked).toHaveLength(1);
    await close();
  });

  it('sees the state of the service and its figures', async () => {
    const page = await open('/state');
    await page.getByText('Everything that is needed works.').waitFor();
    await page.getByRole('region', { name: 'At a glance' }).getByText('Requests', { exact: true }).waitFor();
    const reconcile = page.getByRole('row').filter({ hasText: 'Removes chunks and bytes' });
    await reconcile.getByRole('button', { name: 'Run now' }).click();
    await until('its findings are told', async () => {
      await page.reload();
      await reconcile.waitFor();
      return (await reconcile.getByText('Nothing was to be removed.').count()) === 1;
    });
  });

  it('says in French what the server names, and why a task failed', async () => {
    const page = await open('/state');
    const choose = async (language: string): Promise<void> => {
      await page.getByRole('button', { name: /^(Signed in as|Connecté en tant que)/ }).click();
      await page.getByRole('menuitem', { name: language }).click();
    };
    await choose('Français');
    await page.getByText('Met les enregistrements dans la forme de cette version').waitFor();
    await page.getByText('Retire les extraits et les contenus sans enregistrement').waitFor();
    expect(await page.textContent('main')).not.toMatch(/\b(Removes|Brings|Ties|Seals|the|of)\b/);
    await page.goto(`${stage.stack.base}/app/tasks`);
    await page.getByRole('button', { name: 'Raison' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Voir la raison' }).click();
    await page.getByText('Le fichier est endommagé ou incomplet et ne peut pas être lu.').waitFor();
    await page.keyboard.press('Escape');
    await choose('English');
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  });

  it('makes a backup, puts it back, and deletes it', async () => {
    let page = await open('/backups');
    await page.getByText('No backup yet').waitFor();
    await page.getByRole('button', { name: 'Make a backup' }).click();
    const runs = page.getByRole('table', { name: 'Runs' });
    await runs.getByText('completed').first().waitFor();
    const backups = page.getByRole('table', { name: 'Backups' });
    await backups.getByText(/4 files/).waitFor();
    const path = `/partition/${PARTITION}/file/${FILE}`;
    await stage.stack.request(`/indexer${path}`, { method: 'DELETE' });
    expect((await stage.stack.request(path)).status).toBe(404);
    await backups.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('checkbox', { name: 'Remove what is stored first' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await until('the file is back', async () => (await stage.stack.request(path)).status === 200, {
      withinMs: 120_000,
    });
    // sessions are not in a backup: who was signed in signs in again
    await keeper.close();
    keeper = await stage.visit('/', stage.stack.token);
    page = await open('/backups');
    await until('the restore has ended', async () => {
      await page.reload();
      await page.getByRole('table', { name: 'Backups' }).waitFor();
      return (await page.getByRole('table', { name: 'Runs' }).getByText('running').count()) === 0;
    });
    await confirm(
      page,
      page.getByRole('table', { name: 'Backups' }).getByRole('button', { name: 'Delete' }),
      'Delete',
    );
    await page.getByText('No backup yet').waitFor();
    expect(keeper.faults).toEqual([]);
  });
});
