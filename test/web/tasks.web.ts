import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { modelEnvironment } from '../support/model-server/open-models.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

/** Nobody answers there: where a link leads is read, not opened. */
const UI = 'http://temporal.invalid:8080';

let stage: Stage;
let models: ScriptedModelServer;
let keeper: Visitor;
beforeAll(async () => {
  models = await startScriptedModelServer();
  stage = await openStage({ ...modelEnvironment(models), EMBEDDER_TIMEOUT: '15', TEMPORAL_UI_ORIGIN: UI });
  keeper = await stage.visit('/', stage.stack.token);
});
afterAll(async () => {
  await stage?.close();
  await models?.close();
});

interface Link {
  name: string;
  kind: string;
  id: string;
}

/** The links into Temporal's UI of the page, taken apart. */
async function linksIntoTemporal(): Promise<Link[]> {
  const links = keeper.page.getByRole('link', { name: /^In Temporal: / });
  await links.first().waitFor();
  const found: Link[] = [];
  for (const link of await links.all()) {
    const href = (await link.getAttribute('href')) ?? '';
    const [, kind = '', id = ''] =
      /^http:\/\/temporal\.invalid:8080\/namespaces\/[^/]+\/(\w+)\/(.+)$/.exec(href) ?? [];
    found.push({
      name: ((await link.getAttribute('aria-label')) ?? '').replace('In Temporal: ', ''),
      kind,
      id: decodeURIComponent(id),
    });
  }
  return found;
}

describe('tasks at work, in the browser', () => {
  it('are counted by user, lead to their workflow, and can be cancelled', async () => {
    models.always('embed', { kind: 'silence' });
    const { body: ada } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Ada',
    });
    const hers = documentClient({
      request: (path, init = {}) =>
        stage.stack.request(path, {
          ...init,
          headers: { ...init.headers, authorization: `Bearer ${ada.token}` },
        }),
    });
    const ours = documentClient(stage.stack);
    await stage.stack.request('/partition/hers', {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}` },
    });
    await stage.stack.request('/partition/ours', { method: 'POST' });
    for (const name of ['a.md', 'b.md'])
      await hers.upload('POST', 'hers', name, `The rope of ${name} is new.`, name);
    await ours.upload('POST', 'ours', 'own.md', 'The bell was cast in 1804.', 'own.md');

    const { page } = keeper;
    await page.goto(`${stage.stack.base}/app/tasks`);
    const turns = page.getByRole('group', { name: 'By user:' });
    await turns.getByText(/^Ada: 2 at work, 0 queued$/).waitFor();
    const tasks = page.getByRole('table', { name: 'Tasks' });
    await tasks.getByText('own.md').waitFor();

    const links = await linksIntoTemporal();
    expect(links).toHaveLength(3);
    for (const { name, kind, id } of links) {
      expect(kind).toBe('workflows');
      const { type } = await stage.stack.temporal.workflow.getHandle(id).describe();
      expect({ name, type }).toEqual({ name, type: 'indexDocument' });
    }
    expect(new Set(links.map(({ id }) => id)).size).toBe(3);

    const row = tasks.getByRole('row').filter({ hasText: 'own.md' });
    await row.getByRole('button', { name: 'Cancel the task' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Give up what was uploaded as own.md?').waitFor();
    await dialog.getByRole('button', { name: 'Cancel the task' }).click();
    await row.getByText('cancelled').waitFor();
    await turns.getByText(/^Ada: 2 at work, 0 queued$/).waitFor();
    models.reset();
    expect(keeper.faults).toEqual([]);
  });
});

describe('what goes by the clock, in the browser', () => {
  it('leads each schedule and migration to its own place in Temporal', async () => {
    await askStack(stage.stack, 'POST', '/admin/migrations/records', { mode: 'dry_run' });
    const { page } = keeper;
    await page.goto(`${stage.stack.base}/app/state`);
    await page
      .getByText(/^Last count: completed/)
      .first()
      .waitFor();
    await page.getByRole('table', { name: 'Schedules' }).waitFor();
    const links = await linksIntoTemporal();
    const { temporal } = stage.stack;
    for (const { kind, id } of links)
      if (kind === 'schedules') await temporal.schedule.getHandle(id).describe();
      else await temporal.workflow.getHandle(id).describe();
    const kinds = links.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'schedules').length).toBeGreaterThanOrEqual(3);
    expect(kinds).toContain('workflows');
    expect(new Set(links.map(({ id }) => id)).size).toBe(links.length);
  });
});
