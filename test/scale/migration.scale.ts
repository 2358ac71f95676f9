import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signalGroup } from '../../deploy/local/kill-group.js';
import type { ManagedProcess } from '../../deploy/local/managed-process.js';
import { openService } from '../../deploy/local/open-service.js';
import { pathsOf } from '../../deploy/local/paths.js';
import { RunRecord } from '../../deploy/local/run-record.js';
import { opensearch } from '../../deploy/local/services/opensearch.js';
import type { Workbench } from '../../deploy/local/workbench.js';
import { migrateSchemaTwo, migrateUnderLoad } from '../support/migration-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';

const local = mkdtempSync(join(tmpdir(), 'tamis-test-migration-'));

function quiet() {
  return undefined;
}

const bench: Workbench = {
  paths: { ...pathsOf(process.env), local, logs: join(local, 'log') },
  settings: {},
  record: new RunRecord(local),
  report: { phase: quiet, detail: quiet, done: quiet, gone: quiet, say: quiet, close: quiet },
  signal: new AbortController().signal,
};

const FILES = 200;
/** Some 500 chunks a file. */
const PARAGRAPHS = 2_150;

let engine: ManagedProcess;
let stack: RunningStack;

beforeAll(async () => {
  // An engine of its own: it is killed.
  process.env['OPENSEARCH_URL'] = await openService(bench, opensearch, (started) => (engine = started));
}, 180_000);
afterAll(async () => {
  await engine?.stop();
  rmSync(local, { recursive: true, force: true });
}, 60_000);

async function killEngineHalfway(): Promise<void> {
  await until(
    'a third is copied',
    async () => {
      const response = await stack.request('/admin/migrations/vector-store/runs').catch(() => null);
      const body = (await response?.json().catch(() => null)) as {
        runs: { done: number; total: number }[];
      } | null;
      const run = body?.runs[0];
      return run !== undefined && run.done > run.total / 3;
    },
    { withinMs: 1_800_000, everyMs: 200 },
  );
  signalGroup(bench.record.read().processes['opensearch']!.pid, 'SIGKILL');
  await engine.start();
}

describe('100,000 chunks of schema 2', () => {
  it('are migrated by a worker that is killed five times, on an engine that is killed once', async () => {
    stack = await openStack();
    const report = await migrateSchemaTwo(stack, {
      files: FILES,
      paragraphs: PARAGRAPHS,
      kills: 5,
      pagesPerSecond: null,
      disturb: killEngineHalfway,
    });
    console.log(JSON.stringify(report, null, 2));
    await stack.close();
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(5);
    expect(report.chunks).toBeGreaterThanOrEqual(100_000);
    expect(report.run.figures['chunks_verified']).toBe(report.chunks);
  }, 5_400_000);
});

describe('a step of the present schema under load, with three kills', () => {
  it('goes by unnoticed', async () => {
    stack = await openStack();
    const report = await migrateUnderLoad(stack, {
      files: 20,
      paragraphs: 2_150,
      kills: 3,
      pagesPerSecond: 1,
    });
    console.log(JSON.stringify(report, null, 2));
    await stack.close();
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(3);
    expect(report.run.state).toBe('completed');
  }, 1_800_000);
});
