import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { WorkerStore } from '../activities/ports/tasks.js';
import { WORKER_POOLS, WORKER_REPORT_EVERY_MS } from '../schemas/worker-pools.js';
import type { WorkerPoolName } from '../schemas/worker-pools.js';

export interface WorkerReportOptions {
  workers: WorkerStore;
  slots: number;
  /** Makes a pool anew, without waiting for it. */
  renew(pool: WorkerPoolName): void;
  onError(error: unknown): void;
  everyMs?: number;
}

/**
 * Tells the records every few seconds that this process lives, and makes those pools anew whose restart was requested
 * since it started. A record store that is away costs nothing but that: work goes on.
 * @returns what ends it and takes the record away
 */
export function reportWorker(options: WorkerReportOptions): () => Promise<void> {
  const { workers, slots, renew, onError } = options;
  const started = new Date();
  const workerId = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const renewed: Partial<Record<WorkerPoolName, Date>> = {};

  const obey = async (): Promise<void> => {
    const requested = await workers.restarts();
    for (const { name, inWorkers } of WORKER_POOLS) {
      const asked = requested.get(name);
      if (!inWorkers || asked === undefined || asked <= (renewed[name] ?? started)) continue;
      renewed[name] = asked;
      renew(name);
    }
  };
  const round = async (): Promise<void> => {
    try {
      await obey();
      await workers.report({
        worker_id: workerId,
        slots,
        started_at: started,
        seen_at: new Date(),
        renewed: { ...renewed },
      });
    } catch (error) {
      onError(error);
    }
  };

  let last = round();
  // One after the other: a slow store must not gather rounds.
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    last = round().finally(() => (busy = false));
  }, options.everyMs ?? WORKER_REPORT_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await last;
    await workers.withdraw(workerId).catch(onError);
  };
}
