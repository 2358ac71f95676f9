import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askStack } from '../support/ask-stack.js';
import { dropFiles } from './support/drop-files.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';
import { scriptBytes } from './support/script-bytes.js';

const PARTITION = 'tide-mill';
const SAMPLES = new URL('../../deploy/samples/', import.meta.url).pathname;
const GUIDE = { name: 'visitor-guide.md', content: readFileSync(`${SAMPLES}visitor-guide.md`, 'utf8') };
const NEWER_GUIDE = `${SAMPLES}replacement/visitor-guide.md`;
/** With the guide twenty files. */
const NOTES = Array.from({ length: 19 }, (_, index) => ({
  name: `logbook-${index + 1}.md`,
  content: `# Day ${index + 1}\n\nThe keeper counted ${index + 40} gulls on the causeway and oiled gate ${index + 1}.\n`,
}));
const QUESTION = 'How much does an adult ticket cost?';

let stage: Stage;
let owner: Visitor;
beforeAll(async () => {
  stage = await openStage();
  owner = await stage.visit('/', stage.stack.token);
});
afterAll(() => stage?.close());

/** Asks in the chat and answers the place of the whole answer. */
async function ask({ page }: Visitor, question: string) {
  await page.getByRole('link', { name: 'Chat' }).click();
  await page.getByRole('textbox', { name: 'Your question' }).fill(question);
  await page.keyboard.press('Enter');
  const answer = page.getByRole('article', { name: 'Answer' }).last();
  await answer.getByRole('button', { name: 'Copy' }).waitFor();
  return answer;
}

describe('the documents of a person, in the browser', () => {
  it('takes at most 250 kB of script to begin with', async () => {
    const { page, close } = await stage.visit('/');
    await page.getByLabel('Token or key').waitFor();
    const bytes = await scriptBytes(page);
    await close();
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(250_000);
  });

  it('takes twenty dropped files and tells when each is indexed', async () => {
    const { page } = owner;
    await page.getByRole('button', { name: 'New partition' }).click();
    await page.getByRole('textbox', { name: 'Name of the partition' }).fill(PARTITION);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: PARTITION }).waitFor();
    await dropFiles(page, [GUIDE, ...NOTES]);
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.getByText('20 / 20').waitFor();
    expect(await uploads.getByText('failed').count()).toBe(0);
    await page.getByText('20 of 20 files').waitFor();
    await page.getByRole('link', { name: GUIDE.name }).waitFor();
  });

  it('finds a passage while one types, with what matches marked', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: 'Search' }).click();
    await page.getByRole('searchbox', { name: 'Search for' }).pressSequentially('adult ticket');
    const first = page.getByRole('article').first();
    await first.getByText('7 euros').first().waitFor();
    expect((await first.locator('mark').allTextContents()).map((text) => text.toLowerCase())).toContain(
      'ticket',
    );
    expect(page.url()).toContain('q=adult+ticket');
  });

  it('shows the fault of a filter expression at its place', async () => {
    const { page } = owner;
    await page.getByRole('textbox', { name: 'Filter expression' }).fill('year >= ');
    await page.getByText('The fault is at character').waitFor();
    await page.getByRole('textbox', { name: 'Filter expression' }).fill('');
    await page.getByRole('article').first().waitFor();
  });

  it('filters by a form as well', async () => {
    const { page } = owner;
    await page.getByText('Filter without writing an expression').click();
    const form = page.getByRole('form', { name: 'Add this condition' });
    await form.getByRole('textbox', { name: 'Key' }).fill('file_id');
    await form.getByRole('combobox', { name: 'Comparison' }).click();
    await page.getByRole('option', { name: 'begins with' }).click();
    await form.getByRole('textbox', { name: 'Value' }).fill('logbook');
    await form.getByRole('button', { name: 'Add this condition' }).click();
    const filter = page.getByRole('textbox', { name: 'Filter expression' });
    expect(await filter.inputValue()).toBe('file_id like "logbook%"');
    await page.getByRole('link', { name: GUIDE.name }).first().waitFor({ state: 'detached' });
    await page
      .getByRole('link', { name: /^logbook-/ })
      .first()
      .waitFor();
    // The address holds it; `%fa` in it is no letter.
    await filter.fill('file_id like "%facade%"');
    await page.getByText('Nothing was found').waitFor();
    expect(await filter.inputValue()).toBe('file_id like "%facade%"');
    await filter.fill('');
    await page.getByRole('link', { name: GUIDE.name }).first().waitFor();
  });

  it('answers with a source that opens at the quoted sentence', async () => {
    const answer = await ask(owner, QUESTION);
    expect(await answer.textContent()).toContain('7 euros');
    await answer.getByRole('button', { name: /^Source 1: / }).click();
    const source = owner.page.getByRole('dialog');
    const quoted = source.locator('mark');
    await quoted.waitFor();
    expect(await quoted.textContent()).toContain('7 euros');
    await source.getByRole('link', { name: 'Open in the file' }).click();
    await owner.page.getByRole('heading', { level: 1, name: GUIDE.name }).waitFor();
    const marked = owner.page.locator('mark');
    await marked.waitFor();
    expect(await marked.textContent()).toContain('7 euros');
  });

  it('gives another answer once the file is replaced', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: /Files of the partition/ }).click();
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill(GUIDE.name);
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: `Actions: ${GUIDE.name}` }).click();
    await page.getByRole('menuitem', { name: 'Replace' }).click();
    await (await chosen).setFiles(NEWER_GUIDE);
    await page.getByRole('region', { name: 'Uploads' }).getByText('21 / 21').waitFor();
    const answer = await ask(owner, QUESTION);
    const text = await answer.textContent();
    expect(text).toContain('9 euros');
    expect(text).not.toContain('7 euros');
    await answer.getByRole('button', { name: 'Good answer' }).click();
    await answer.getByText('Thank you').waitFor();
  });

  it('keeps the conversation for other browsers, under a name that one gives it', async () => {
    const other = await stage.visit('/chat', stage.stack.token);
    const { page } = other;
    const list = page.getByRole('dialog', { name: 'Conversations' });
    await page.getByRole('button', { name: 'Conversations' }).click();
    await list.getByRole('button', { name: `Rename: ${QUESTION}` }).click();
    await list.getByRole('textbox', { name: 'Title of the conversation' }).fill('Prices');
    await list.getByRole('button', { name: 'Save' }).click();
    await list.getByRole('link', { name: 'Prices' }).click();
    const answers = page.getByRole('article', { name: 'Answer' });
    await answers.nth(1).waitFor();
    expect(await answers.last().textContent()).toContain('9 euros');
    await answers
      .last()
      .getByRole('button', { name: /^Source 1: / })
      .click();
    await page.getByRole('dialog').locator('mark').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Your question' }).fill('And for a child?');
    await page.keyboard.press('Enter');
    await answers.nth(2).getByRole('button', { name: 'Copy' }).waitFor();
    await page.getByRole('button', { name: 'Conversations' }).click();
    await list.getByRole('button', { name: 'Delete: Prices' }).click();
    await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
    await list.getByText('No conversation yet').waitFor();
    expect(other.faults).toEqual([]);
    await other.close();
  });

  it('makes a question of what was said of an answer, and lays two runs side by side', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: 'Evaluation' }).click();
    await page.getByText('No question set yet').waitFor();
    await page.getByRole('link', { name: 'Feedback' }).click();
    const feedback = page.getByRole('article', { name: QUESTION });
    await feedback.getByRole('button', { name: 'Make a question of it' }).click();
    await page.getByRole('combobox', { name: 'Question set' }).fill('tickets');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await feedback.getByText('in tickets').waitFor();
    await page.getByRole('link', { name: /^← Evaluation/ }).click();
    for (const label of ['as it was', 'once more']) {
      await page.getByRole('button', { name: 'Start a run' }).click();
      await page.getByRole('textbox', { name: 'Name of the run' }).fill(label);
      await page.getByRole('combobox', { name: 'Search preset' }).click();
      await page.getByRole('option', { name: 'default', exact: true }).click();
      await page.getByRole('checkbox', { name: /^Ask chat as well/ }).check();
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const row = page.getByRole('row').filter({ hasText: label });
      await row.getByText('completed').waitFor();
      await row.getByRole('checkbox').check();
    }
    await page.getByRole('link', { name: 'once more' }).click();
    await page.getByText('Search preset: default').waitFor();
    await page.getByRole('button', { name: QUESTION }).waitFor();
    await page.goBack();
    for (const label of ['as it was', 'once more'])
      await page.getByRole('checkbox', { name: `Choose ${label}` }).check();
    await page.getByRole('link', { name: 'Compare the two' }).click();
    await page.getByText('Questions asked by both: 1.').waitFor();
    await page.getByRole('button', { name: QUESTION }).click();
    const sides = page.getByRole('dialog').getByRole('region');
    await sides.nth(1).waitFor();
    for (const side of await sides.all()) expect(await side.textContent()).toContain('9 euros');
    await page.keyboard.press('Escape');
  });

  it('brings a deleted file back for as long as that is offered', async () => {
    const { page } = owner;
    const file = NOTES[18]!.name;
    await page.getByRole('link', { name: 'Partitions' }).click();
    await page.getByRole('link', { name: PARTITION, exact: true }).click();
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill(file);
    await page.getByRole('button', { name: `Actions: ${file}` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByText('No file matches the filter.').waitFor();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.hover();
    // Longer than the notice stands that no pointer is at.
    await page.waitForTimeout(8_000);
    await undo.click();
    await page.getByRole('link', { name: file }).waitFor();
    const { status } = await stage.stack.request(`/partition/${PARTITION}/file/${file}`);
    expect(status).toBe(200);
  });

  it('keeps what is uploaded while the deletion of its earlier version can be undone', async () => {
    const { page } = owner;
    const { name, content } = NOTES[18]!;
    await page.goto(`${stage.stack.base}/app/partitions/${PARTITION}`);
    await page.getByRole('button', { name: `Actions: ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    await dropFiles(page, [{ name, content: `${content}\nThe lamp was trimmed.\n` }]);
    await undo.waitFor({ state: 'detached' });
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.getByText('1 / 1').waitFor();
    expect(await uploads.getByText('There is a file of this name already.').count()).toBe(0);
    await page.getByRole('link', { name, exact: true }).waitFor();
    expect((await stage.stack.request(`/partition/${PARTITION}/file/${name}`)).status).toBe(200);
  });

  it('moves and copies a file, and says so of one that is gone from where it was', async () => {
    const { page } = owner;
    const [file, elsewhere] = [NOTES[17]!.name, 'archive'];
    expect((await stage.stack.request(`/partition/${elsewhere}`, { method: 'POST' })).status).toBe(201);
    const place = async (kind: 'Copy' | 'Move', partition: string, to: string): Promise<void> => {
      await page.goto(`${stage.stack.base}/app/partitions/${partition}`);
      await page.getByRole('button', { name: `Actions: ${file}` }).click();
      await page.getByRole('menuitem', { name: 'Move or copy' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(kind, { exact: true }).first().click();
      await dialog.getByRole('combobox', { name: 'To the partition' }).click();
      await page.getByRole('option', { name: to, exact: true }).click();
      await dialog.getByRole('button', { name: kind, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await place('Copy', PARTITION, elsewhere);
    await page.getByText(`${file} was copied to ${elsewhere}.`).waitFor();
    const other = 'second-archive';
    expect((await stage.stack.request(`/partition/${other}`, { method: 'POST' })).status).toBe(201);
    await place('Move', elsewhere, other);
    await page.getByText(`${file} is in ${other} now.`).waitFor();
    for (const partition of [PARTITION, other]) {
      await page.goto(`${stage.stack.base}/app/partitions/${partition}/files/${file}`);
      await page.getByRole('region', { name: 'Extracts' }).getByText('gulls').waitFor();
    }
    await page.goto(`${stage.stack.base}/app/partitions/${elsewhere}/files/${file}`);
    await page.getByText(`There is no file ${file} in this partition`).waitFor();
  });

  it('sends nothing more into a partition that is deleted meanwhile', async () => {
    const partition = 'short-lived';
    expect((await stage.stack.request(`/partition/${partition}`, { method: 'POST' })).status).toBe(201);
    const { page, close } = await stage.visit(`/partitions/${partition}`, stage.stack.token);
    let sent = 0;
    // The first two are under way until the partition is gone.
    await page.route(/\/indexer\/partition\/short-lived\/file\//, () => void (sent += 1));
    await dropFiles(page, NOTES);
    await page.getByRole('region', { name: 'Uploads' }).getByText('uploading, ').nth(1).waitFor();
    await page.getByRole('link', { name: 'Partitions', exact: true }).click();
    const card = page.getByRole('article').filter({ hasText: partition });
    await card.getByRole('button', { name: 'Delete partition' }).click();
    const question = page.getByRole('dialog', { name: 'Delete partition' });
    await question.getByRole('button', { name: 'Delete partition' }).click();
    await card.waitFor({ state: 'detached' });
    expect(sent).toBe(2);
    expect((await stage.stack.request(`/partition/${partition}`)).status).toBe(404);
    await close();
  });

  it('stops all uploads of a partition at once, those under way too', async () => {
    const { page, close } = await stage.visit(`/partitions/${PARTITION}`, stage.stack.token);
    await page.route(/\/indexer\/partition\/[^/]+\/file\/unwanted/, () => undefined);
    await dropFiles(
      page,
      Array.from({ length: 5 }, (_, index) => ({ name: `unwanted-${index}.md`, content: 'x' })),
    );
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.getByRole('button', { name: 'Cancel: unwanted-0.md' }).click();
    await uploads.getByText('0 / 4').waitFor();
    await uploads.getByRole('button', { name: 'Stop all' }).click();
    await page.getByRole('dialog', { name: 'Stop all' }).getByRole('button', { name: 'Stop all' }).click();
    await uploads.waitFor({ state: 'detached' });
    await close();
  });

  it('asks once for all files that are there already', async () => {
    const { page, close } = await stage.visit(`/partitions/${PARTITION}`, stage.stack.token);
    await dropFiles(page, [NOTES[0]!, NOTES[1]!, NOTES[2]!]);
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.getByText('3 files are there already.').waitFor();
    await uploads.getByRole('button', { name: 'Leave all' }).click();
    await uploads.waitFor({ state: 'detached' });
    await close();
  });

  it('shows nothing of them to a person without rights', async () => {
    const { body } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Somebody else',
    });
    const other = await stage.visit('/', body.token);
    await other.page.getByText('You have no partition yet').waitFor();
    const navigation = other.page.getByRole('navigation', { name: 'Menu' });
    for (const name of ['Users', 'Models', 'Overview', 'Alerts', 'Rules', 'Forwarding'])
      expect(await navigation.getByRole('link', { name, exact: true }).count()).toBe(0);
    for (const path of [`/partitions/${PARTITION}`, `/partitions/${PARTITION}/files/${GUIDE.name}`]) {
      await other.page.goto(`${stage.stack.base}/app${path}`);
      await other.page.getByRole('alert').first().waitFor();
      expect(await other.page.textContent('main')).not.toMatch(/logbook|euros/);
    }
    for (const path of ['/users', '/models', '/signals', '/signals/alerts', '/signals/rules']) {
      await other.page.goto(`${stage.stack.base}/app${path}`);
      await other.page.getByText('There is no such page.').waitFor();
    }
    await other.page.goto(`${stage.stack.base}/app/search?q=adult+ticket`);
    await other.page.getByText('You have no partition yet').waitFor();
    await other.page.goto(`${stage.stack.base}/app/tasks`);
    await other.page.getByText('No task yet').waitFor();
    expect(other.faults).toEqual([]);
    await other.close();
  });

  it('ends with the sign-out, also in another window of the same browser', async () => {
    const { page } = owner;
    const second = await page.context().newPage();
    await second.goto(`${stage.stack.base}/app/partitions/${PARTITION}`);
    await second.getByText('20 of 20 files').waitFor();
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Token or key').waitFor();
    // It hears of it from this window.
    await second.getByLabel('Token or key').waitFor();
    expect(owner.faults).toEqual([]);
  });
});
