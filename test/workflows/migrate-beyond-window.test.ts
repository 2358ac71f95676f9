import { expect, it, jest } from '@jest/globals';
import type * as Temporal from '@temporalio/workflow';
import type { MigrateInput } from '../../workflows/migrations/migrate.js';

/** A server suggests to continue as new after thousands of events: here after each slice, and without a server. */
const handlers = new Map<string, () => void>();
const slices: unknown[] = [];
class ContinuedAsNew extends Error {
  constructor(readonly input: MigrateInput) {
    super('continued as new');
  }
}

const plain = jest.requireActual<typeof Temporal>('@temporalio/workflow');
jest.unstable_mockModule('@temporalio/workflow', () => ({
  ...plain,
  proxyActivities: () => ({
    beginMigration: async () => undefined,
    // An operator resumes it as soon as it is paused.
    pauseMigration: async ({ paused }: { paused: boolean }) => {
      if (paused) handlers.get('resume')?.();
    },
    endMigration: async () => undefined,
    runMigrationSlice: async (slice: unknown) => {
      slices.push(slice);
      return {
        position: { phase: 'copying' },
        ended: false,
        cancellable: true,
        done: 1,
        total: 9,
        figures: {},
      };
    },
  }),
  setHandler: ({ name }: { name: string }, handler: () => void) => void handlers.set(name, handler),
  setCurrentDetails: () => undefined,
  upsertMemo: () => undefined,
  condition: async (fulfilled: () => boolean) => expect(fulfilled()).toBe(true),
  workflowInfo: () => ({ continueAsNewSuggested: true }),
  CancellationScope: { current: () => ({ consideredCancelled: false }) },
  continueAsNew: async (input: MigrateInput) => {
    throw new ContinuedAsNew(input);
  },
}));
const { migrate } = await import('../../workflows/migrations/migrate.js');

/** One run of the plan; what the next one begins with. */
async function nextInput(input: MigrateInput): Promise<MigrateInput> {
  const end = await migrate(input).catch((error: unknown) => error);
  if (!(end instanceof ContinuedAsNew)) throw end;
  return end.input;
}

it('a run that a person lets go on beyond its window goes on in the runs that follow', async () => {
  const input: MigrateInput = {
    prefix: 'p-',
    runId: 'run',
    name: 'records',
    mode: 'run',
    unit: 'records',
    pagesPerSecond: null,
    startedBy: 'schedule',
  };
  const next = await nextInput({ ...input, windowEndsAt: Date.now() - 1_000 });
  expect(next).toEqual({
    ...input,
    continued: { last: expect.objectContaining({ done: 1 }), paused: false },
  });
  expect(slices).toEqual([expect.not.objectContaining({ notAfter: expect.anything() })]);
  const within = Date.now() + 3_600_000;
  expect(await nextInput({ ...input, windowEndsAt: within })).toMatchObject({ windowEndsAt: within });
});
