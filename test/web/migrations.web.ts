import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { migrationWorkflowId } from '../../schemas/ids.js';
import type { MigrationRunBody } from '../../schemas/migrations/migrations-api.js';
import { seedChunks } from '../bench/seed-chunks.js';
import { askStack } from '../support/ask-stack.js';
import { createFirstIndex } from '../support/earlier-index.js';
import type { RunningStack } from '../support/running-stack.js';
import { openEngine } from '../support/schema-two-index.js';
import { until } from '../support/until.js';
import { makePartition } from '../support/upload-texts.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';
import { axeFindings, layoutFaults } from './support/page-faults.js';

const PARTITION = 'mills';
const DIMENSION = 1024;
/** A page of the migration is a thousand. */
const CHUNKS = 4_000;
/** So slow that a person who looks, and a busy machine, have the time to stop it. */
const PAGES_PER_SECOND = 0.05;
const MIGRATION = '/admin/migrations/vector-store';

let stage: Stage;
let keeper: Visitor;
beforeAll(async () => {
  stage = await openStage({}, { prepare: makeEarlierIndex });
  await makePartition(stage.stack, PARTITION);
  let number = 0;
  await seedChunks(stage.stack, {
    partition: PARTITION,
    embedderName: 'builtin-hash',
    chunks: CHUNKS,
    embed: () => {
      number += 1;
      return Array.from({ length: DIMENSION }, (_, at) => (at === number % DIMENSION ? 1 : 0));
    },
  });
  keeper = await stage.visit('/state', stage.stack.token);
}, 300_000);
afterAll(() => stage?.close());

/** As an installation that was upgraded finds it. */
async function makeEarlierIndex({ config }: RunningStack): Promise<void> {
  const index = `${config.opensearch.indexPrefix}chunks-v3`;
  const engine = openEngine();
  await engine.client.request('DELETE', `/${index}`);
  const field = { vectorField: 'vector_builtin_hash', dimension: DIMENSION };
  await createFirstIndex(engine.client, index, [field]);
  await engine.close();
}

async function latestRun(): Promise<MigrationRunBody> {
  const { body } = await askStack<{ runs: MigrationRunBody[] }>(stage.stack, 'GET', `${MIGRATION}/runs`);
  return body.runs[0]!;
}

async function shareOf(bar: Locator): Promise<number> {
  return Number(await bar.getAttribute('aria-valuenow'));
}

describe('a migration, in the browser', () => {
  it('is said to be pending, shows its progress, pauses and goes on, and tells what was verified', async () => {
    const { page, faults } = keeper;
    const migration = page.getByRole('article', {
      name: 'Brings the index of the chunks to the shape of this release',
    });
    await migration.getByText(/\(4,000 chunks\)$/).waitFor();

    const started = await askStack<{ run_id: string }>(stage.stack, 'POST', MIGRATION, {
      mode: 'run',
      pages_per_second: PAGES_PER_SECOND,
    });
    expect(started.status).toBe(202);
    const bar = migration.getByRole('progressbar', { name: /^[\d,]+ of 4,000 chunks$/ });
    await bar.waitFor();
    await migration.getByText(/^Last run: running, [\d,]+ of 4,000 chunks/).waitFor();
    await until('some of them are copied', async () => (await shareOf(bar)) > 0);
    expect(await shareOf(bar)).toBeLessThan(100);

    await migration.getByRole('button', { name: 'Pause' }).click();
    await migration.getByText(/^Last run: paused/).waitFor();
    const goOn = migration.getByRole('button', { name: 'Go on' });
    await goOn.waitFor();
    const paused = await latestRun();
    expect(paused).toMatchObject({ run_id: started.body.run_id, state: 'paused', total: CHUNKS });
    const workflow = migrationWorkflowId(stage.stack.config.temporal.prefix, 'vector-store');
    const handle = stage.stack.temporal.workflow.getHandle(workflow);
    expect(await handle.query('progress')).toMatchObject({ paused: true, last: { done: paused.done } });
    const shown = migration.getByRole('progressbar');
    expect(await shareOf(shown)).toBeCloseTo((100 * paused.done) / CHUNKS);
    expect([...(await axeFindings(page)), ...(await layoutFaults(page))]).toEqual([]);

    const pace = await askStack(stage.stack, 'POST', `${MIGRATION}/pace`, { pages_per_second: null });
    expect(pace.status).toBe(202);
    expect(await latestRun()).toMatchObject({ state: 'paused', done: paused.done });
    await goOn.click();
    await migration.getByText(/^Last run: completed, 4,000 of 4,000 chunks/).waitFor();
    await migration.getByText('Nothing to do.').waitFor();
    expect(await migration.getByRole('progressbar').count()).toBe(0);
    await migration.getByText('Figures', { exact: true }).click();
    const figures = migration.getByRole('table', { name: 'Figures' });
    const verified = figures.getByRole('row').filter({ hasText: 'chunks verified' });
    await verified.getByText('4,000', { exact: true }).waitFor();
    const compared = figures.getByRole('row').filter({ hasText: 'vectors compared' });
    expect(Number(await compared.getByRole('cell').textContent())).toBeGreaterThan(0);
    expect(await latestRun()).toMatchObject({ run_id: started.body.run_id, state: 'completed' });
    expect(faults).toEqual([]);
  });

  it('is nothing that somebody without rights sees or steers', async () => {
    const { body: ada } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', {
      display_name: 'Ada',
    });
    const other = await stage.visit('/state', ada.token);
    await other.page.getByText('Everything that is needed works.').waitFor();
    expect(await other.page.getByRole('region', { name: 'Migrations' }).count()).toBe(0);
    for (const step of ['', '/pause', '/resume', '/cancel']) {
      const { status } = await stage.stack.request(`${MIGRATION}${step}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.token}` },
      });
      expect([step, status]).toEqual([step, 403]);
    }
    expect(other.faults).toEqual([]);
    await other.close();
  });
});
