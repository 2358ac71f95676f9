import type { Worker } from '@temporalio/worker';

/** A worker of one task queue that can be made anew while its process goes on. */
export interface WorkerPool {
  /** Resolves when it was stopped; rejects when the worker failed by itself. */
  run(): Promise<void>;
  /** Ends the present worker, its activities after their grace, and makes the next one. */
  renew(): void;
  stop(): void;
  /** Whether it polls; not between two workers. */
  isRunning(): boolean;
}

/**
 * @param first made already, so that a process that cannot have it does not start
 * @param create makes the worker that follows a renewal
 */
export function createWorkerPool(first: Worker, create: () => Promise<Worker>): WorkerPool {
  let worker = first;
  let stopping = false;
  const end = (): void => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    async run() {
      for (;;) {
        await worker.run();
        if (stopping) return;
        worker = await create();
        // Told to stop while the next one was being made: it runs only to end.
        if (stopping) setImmediate(end);
      }
    },
    renew: end,
    isRunning: () => worker.getState() === 'RUNNING',
    stop() {
      stopping = true;
      end();
    },
  };
}
