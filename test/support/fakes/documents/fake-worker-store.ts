import type { WorkerStore } from '../../../../activities/ports/tasks.js';
import type { WorkerRecord } from '../../../../schemas/documents/tasks.js';
import { copyRecord } from '../copy-record.js';

/** Worker processes and requested restarts in Maps. */
export function createFakeWorkerStore(): WorkerStore {
  const workers = new Map<string, WorkerRecord>();
  const restarts = new Map<string, Date>();
  return {
    async report(worker) {
      workers.set(worker.worker_id, copyRecord(worker));
    },
    async withdraw(workerId) {
      workers.delete(workerId);
    },
    async list(since) {
      return copyRecord([...workers.values()].filter(({ seen_at }) => seen_at >= since));
    },
    async requestRestart(pool) {
      restarts.set(pool, new Date());
    },
    async restarts() {
      return new Map(restarts);
    },
  };
}
