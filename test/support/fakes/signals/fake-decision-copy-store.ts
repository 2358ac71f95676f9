import type { DecisionCopyStore } from '../../../../activities/ports/signals.js';

/** Copies in a Map. */
export function createFakeDecisionCopyStore(): DecisionCopyStore {
  const copies = new Map<string, { bytes: Buffer; revision: number; at: Date }>();
  return {
    async read(watcher, version) {
      return copies.get(`${version}/${watcher}`) ?? null;
    },
    async write(watcher, version, copy, revision) {
      const key = `${version}/${watcher}`;
      if ((copies.get(key)?.revision ?? 0) !== revision) return false;
      copies.set(key, { ...copy, revision: revision + 1 });
      return true;
    },
    async drop(watcher, version) {
      copies.delete(`${version}/${watcher}`);
    },
  };
}
