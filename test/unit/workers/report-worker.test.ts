import { describe, expect, it } from '@jest/globals';
import { reportWorker } from '../../../workers/report-worker.js';
import { createFakeWorkerStore } from '../../support/fakes/documents/fake-worker-store.js';
import { until } from '../../support/until.js';

const EARLY = new Date(0);

function start(options: Partial<Parameters<typeof reportWorker>[0]> = {}) {
  const workers = options.workers ?? createFakeWorkerStore();
  const renewed: string[] = [];
  const errors: unknown[] = [];
  const end = reportWorker({
    workers,
    slots: 2,
    everyMs: 5,
    renew: (pool) => renewed.push(pool),
    onError: (error) => errors.push(error),
  });
  return { workers, renewed, errors, end };
}

function one(workers: ReturnType<typeof createFakeWorkerStore>) {
  return until('a report', async () => (await workers.list(EARLY))[0]);
}

describe('reportWorker', () => {
  it('says that the process lives, again and again, and withdraws at the end', async () => {
    const { workers, end } = start();
    const first = await one(workers);
    await until('a later report', async () => {
      const [now] = await workers.list(EARLY);
      return now !== undefined && now.seen_at > first.seen_at;
    });
    await end();
    expect(await workers.list(EARLY)).toEqual([]);
  });

  it('makes a pool anew once for each wish, and none for a wish of before it started', async () => {
    const store = createFakeWorkerStore();
    await store.requestRestart('SerializerQueue');
    await new Promise((resolve) => setTimeout(resolve, 2));
    const { workers, renewed, end } = start({ workers: store });
    await one(workers);
    await workers.requestRestart('MarkerPool');
    await workers.requestRestart('TaskStateManager');
    await until('obeyed', async () => (await one(workers)).renewed['MarkerPool'] !== undefined);
    await workers.requestRestart('MarkerPool');
    await until('obeyed again', async () => renewed.length === 2);
    await end();
    expect(renewed).toEqual(['MarkerPool', 'MarkerPool']);
  });

  it('goes on when the store is away for a while', async () => {
    const store = createFakeWorkerStore();
    const { report } = store;
    let fails = 2;
    store.report = (worker) => ((fails -= 1) >= 0 ? Promise.reject(new Error('away')) : report(worker));
    const { errors, end } = start({ workers: store });
    await one(store);
    await end();
    expect(errors).toHaveLength(2);
  });
});
