import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneFile } from './support/clone-file.js';
import { dropFiles } from './support/drop-files.js';
import { openStage } from './support/open-stage.js';
import type { Stage } from './support/open-stage.js';

const PARTITION = 'long';
const FILES = 1_200;
const DROPPED = 300;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  await cloneFile(stage.stack, PARTITION, FILES);
});
afterAll(() => stage?.close());

describe('a partition with more files than a page of the list has', () => {
  it('shows the first page while the others are still to come, then all', async () => {
    const { page, faults, close } = await stage.visit('/', stage.stack.token);
    await page.getByText(/^1,200 files$/).waitFor();
    await page.getByText(/^1200 extracts$|^1,200 extracts$/).waitFor();
    let goOn: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await page.route(/\/partition\/long\?.*after=/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${stage.stack.base}/app/partitions/${PARTITION}`);
    const table = page.getByRole('table', { name: 'Files' });
    await table.getByRole('link', { name: 'first.md', exact: true }).first().waitFor();
    await page.getByText(/^500 of 1,200 files/).waitFor();
    expect(await table.getAttribute('aria-rowcount')).toBe(String(FILES + 1));
    goOn?.();
    await page.getByText('1,200 of 1,200 files · names by their characters, so 10 before 9').waitFor();
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('log-999');
    await page.getByText(/^1 of 1,200 files/).waitFor();
    expect(await table.getByRole('link').first().getAttribute('title')).toBe('log-999.md');
    await page.getByRole('textbox', { name: 'Filter by name or metadata' }).fill('');
    await page.getByRole('button', { name: 'Sort by File' }).click();
    await page.getByText(/^1,200 of 1,200 files/).waitFor();
    expect(await table.getByRole('link').first().getAttribute('title')).toBe('log-999.md');
    expect(faults).toEqual([]);
    await close();
  });
});

describe('a folder of many files that is dropped', () => {
  it('is shown in part, the failed ones among them, and does not have the list read for each', async () => {
    const { page, faults, close } = await stage.visit(`/partitions/${PARTITION}`, stage.stack.token);
    await page.getByText(/^1,200 of 1,200 files/).waitFor();
    const progress = { stage: 'done', progress: 1 };
    await page.route(/\/indexer\/partition\/long\/file\//, async (route) => {
      const id = new URL(route.request().url()).pathname.split('/').at(-1)!;
      if (id === `page-${DROPPED}.md`)
        return route.fulfill({ status: 409, json: { detail: 'It is there.' } });
      const url = `${stage.stack.base}/indexer/task/${id}`;
      await route.fulfill({ status: 201, json: { task_status_url: url } });
    });
    await page.route(/\/indexer\/task\/[^/]+$/, async (route) => {
      await route.fulfill({ status: 200, json: { ...progress, task_state: 'COMPLETED' } });
    });
    let listed = 0;
    // Each would hold a connection, of which a browser opens six for all windows.
    let streams = 0;
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === `/partition/${PARTITION}` && !searchParams.has('after')) listed += 1;
      if (request.resourceType() === 'eventsource') streams += 1;
    });
    await dropFiles(
      page,
      Array.from({ length: DROPPED }, (_, index) => ({ name: `page-${index + 1}.md`, content: 'x' })),
    );
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.getByText(`${DROPPED} / ${DROPPED}`).waitFor();
    await uploads.getByText('There is a file of this name already.').waitFor();
    expect(await uploads.getByRole('progressbar').count()).toBe(100);
    await uploads.getByRole('button', { name: 'and 200 more: show some of them' }).click();
    expect(await uploads.getByRole('progressbar').count()).toBe(200);
    expect(listed).toBeGreaterThan(0);
    expect(listed).toBeLessThan(DROPPED / 2);
    expect(streams).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});

describe('a partition in which more files failed than a list has', () => {
  it('says that there are more, here and among the tasks', async () => {
    const asked: (string | null)[] = [];
    const { page, faults, close } = await stage.visit('/', stage.stack.token);
    const url = `${stage.stack.base}/indexer/task/torn`;
    await page.route(/\/queue\/tasks(?:\?|$)/, async (route) => {
      const { searchParams } = new URL(route.request().url());
      const state = searchParams.get('task_status');
      if (state === 'active') return route.fallback();
      if (state === 'FAILED') asked.push(searchParams.get('partition'));
      const tasks = Array.from({ length: 500 }, (_, index) => ({
        task_id: `torn-${index}`,
        state: 'FAILED',
        created_at: '2026-11-30T10:00:00.000Z',
        details: { file_id: `torn-${index}.md`, partition: PARTITION, metadata: {}, user_id: 1 },
        duration_ms: 1,
        url,
        error: { code: 'FILE_CORRUPT', message: 'Damaged.' },
        error_url: `${url}/error`,
      }));
      await route.fulfill({ status: 200, json: { tasks } });
    });
    await page.goto(`${stage.stack.base}/app/partitions/${PARTITION}`);
    await page.getByRole('button', { name: 'At least 500 files could not be indexed' }).waitFor();
    expect(new Set(asked)).toEqual(new Set([PARTITION]));
    await page.goto(`${stage.stack.base}/app/tasks`);
    await page.getByText(/^There are more: the newest 2,000 that are active/).waitFor();
    expect(faults).toEqual([]);
    await close();
  });
});
