import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import type * as Temporal from '@temporalio/workflow';

/** A server suggests to continue as new after thousands of events: here after each slice, and without a server. */
class ContinuedAsNew extends Error {
  constructor(readonly input: { continued: unknown }) {
    super('continued as new');
  }
}

type Answer = (input: never) => unknown;

const handlers = new Map<string, () => void>();
let answers: Record<string, Answer> = {};
let asked: { name: string; input: unknown }[] = [];
let isCancelled = false;
let isShielded = false;

/** As Temporal does it: what begins in a cancelled scope fails at once. */
async function call(name: string, input: unknown): Promise<unknown> {
  if (isCancelled && !isShielded) throw new CancelledFailure('cancelled');
  asked.push({ name, input });
  return answers[name]?.(input as never);
}

const plain = jest.requireActual<typeof Temporal>('@temporalio/workflow');
jest.unstable_mockModule('@temporalio/workflow', () => ({
  ...plain,
  proxyActivities: () =>
    new Proxy({}, { get: (_none, name: string) => async (input: unknown) => call(name, input) }),
  executeChild: (_plan: unknown, { args }: { args: unknown[] }) => call('swapEmbedder', args[0]),
  setHandler: ({ name }: { name: string }, handler: () => void) => void handlers.set(name, handler),
  setCurrentDetails: () => undefined,
  upsertMemo: () => undefined,
  uuid4: () => 'an-id',
  workflowInfo: () => ({ continueAsNewSuggested: true, startTime: new Date(0) }),
  CancellationScope: {
    current: () => ({ consideredCancelled: isCancelled && !isShielded }),
    async nonCancellable(run: () => Promise<unknown>) {
      isShielded = true;
      return run().finally(() => (isShielded = false));
    },
  },
  async continueAsNew(input: { continued: unknown }) {
    throw new ContinuedAsNew(input);
  },
}));
const { importService } = await import('../../workflows/imports/import-service.js');
const { runBackup } = await import('../../workflows/backups/run-backup.js');
const { migrate } = await import('../../workflows/migrations/migrate.js');
const { swapEmbedder } = await import('../../workflows/documents/swap-embedder.js');
const { swapEmbedders } = await import('../../workflows/documents/swap-embedders.js');
const { evaluate } = await import('../../workflows/retrieval/evaluate.js');

interface Plan {
  name: string;
  run(): Promise<unknown>;
  /** The slice, what it answers, and what the next run begins with. */
  slice: [name: string, answer: unknown, continued: unknown];
  /** What says how it ended. */
  end: string;
}

const COUNTED = { done: 1, total: 9 };
const PLANS: Plan[] = [
  {
    name: 'importService',
    run: () =>
      importService({
        prefix: 'p-',
        runId: 'run',
        sourceId: 'source',
        dryRun: false,
        requestsPerSecond: 1,
        startedBy: '1',
        timeoutMs: 1,
      }),
    slice: [
      'runImportSlice',
      { position: { phase: 'files', ...COUNTED }, admitted: false },
      { position: { phase: 'files', ...COUNTED }, paused: false },
    ],
    end: 'endImport',
  },
  {
    name: 'runBackup',
    run: () => runBackup({ prefix: 'p-', kind: 'backup', vectors: true, startedBy: 'schedule' }),
    slice: [
      'writeBackupSlice',
      { position: { phase: 'files', ...COUNTED }, ended: false },
      { runId: 'an-id', backupId: '19700101T000000Z-an-id', position: { phase: 'files', ...COUNTED } },
    ],
    end: 'endBackupRun',
  },
  {
    name: 'migrate',
    run: () =>
      migrate({
        prefix: 'p-',
        runId: 'run',
        name: 'records',
        mode: 'run',
        unit: 'records',
        pagesPerSecond: null,
        startedBy: '1',
      }),
    slice: [
      'runMigrationSlice',
      { position: { phase: 'copying' }, ended: false, cancellable: true, ...COUNTED, figures: {} },
      { last: expect.objectContaining(COUNTED), paused: false },
    ],
    end: 'endMigration',
  },
  {
    name: 'swapEmbedder',
    run: () => swapEmbedder({ prefix: 'p-', swap: { swap_id: 'swap' } as never }),
    slice: [
      'runEmbedderSwapSlice',
      { position: { phase: 'embedding', ...COUNTED }, held: null },
      { position: { phase: 'embedding', ...COUNTED }, paused: false },
    ],
    end: 'endEmbedderSwap',
  },
  {
    name: 'evaluate',
    run: () => evaluate({ prefix: 'p-', run: { run_id: 'run' } as never }),
    slice: ['runEvaluationSlice', { next: 2, done: false }, 2],
    end: 'endEvaluation',
  },
];

beforeEach(() => {
  handlers.clear();
  [answers, asked, isCancelled, isShielded] = [{}, [], false, false];
});

/** The first run of a plan; what the next one begins with, or null where there is none. */
async function nextInput(run: () => Promise<unknown>): Promise<{ continued: unknown } | null> {
  const end = await run().catch((error: unknown) => error);
  return end instanceof ContinuedAsNew ? end.input : null;
}

function inputOf(name: string): unknown {
  return asked.find((one) => one.name === name)?.input;
}

const isCancelledBy = { asJson: expect.stringMatching(/"cancelled"/) };

describe.each(PLANS)('$name', ({ run, slice: [slice, answer, continued], end }) => {
  it('goes on as a new run where it was', async () => {
    answers = { [slice]: () => answer };
    expect(await nextInput(run)).toMatchObject({ continued });
    expect(inputOf(end)).toBeUndefined();
  });

  it('obeys a cancel during the last slice of a run, though the slice ends well', async () => {
    answers = {
      [slice]() {
        isCancelled = true;
        return answer;
      },
    };
    expect(await nextInput(run)).toBeNull();
    expect({ asJson: JSON.stringify(inputOf(end)) }).toEqual(isCancelledBy);
    expect(asked.filter(({ name }) => name === slice)).toHaveLength(1);
  });

  const pausable = ['importService', 'migrate', 'swapEmbedder'];
  const [pauses] = PLANS.filter((plan) => plan.run === run && pausable.includes(plan.name));
  if (pauses !== undefined)
    it('stays paused in the next run', async () => {
      answers = {
        [slice]() {
          handlers.get('pause')?.();
          return answer;
        },
      };
      expect(await nextInput(run)).toMatchObject({ continued: { paused: true } });
    });
});

describe('a plan that obeys no cancel any more', () => {
  it.each([
    ['migrate', { cancellable: false }],
    ['swapEmbedder', { position: { phase: 'switching', ...COUNTED } }],
  ])('%s goes on as a new run all the same', async (name, locked) => {
    const { run, slice } = PLANS.find((plan) => plan.name === name)!;
    answers = {
      [slice[0]]() {
        isCancelled = true;
        return { ...(slice[1] as object), ...locked };
      },
    };
    expect(await nextInput(run)).not.toBeNull();
  });
});

describe('swapEmbedders', () => {
  const input = { prefix: 'p-', source: 'old', target: 'new', concurrency: 1, startedBy: '1', listed: 1 };
  const run = () => swapEmbedders({ ...input, min_overlap: null, min_known_item: null });
  const listPartitionsOn = () => [{ partition: 'library', partition_key: 'key' }];

  it('goes on as a new run behind the last partition that it took', async () => {
    answers = { listPartitionsOn, swapEmbedder: () => 'completed' };
    expect(await nextInput(run)).toMatchObject({
      continued: { after: 'library', ended: { completed: 1, cancelled: 0 } },
    });
  });

  it('takes no more partitions once it was cancelled', async () => {
    answers = {
      listPartitionsOn,
      swapEmbedder() {
        isCancelled = true;
        return 'cancelled';
      },
    };
    await expect(run()).rejects.toThrow(CancelledFailure);
    expect(asked.filter(({ name }) => name === 'listPartitionsOn')).toHaveLength(1);
  });
});
