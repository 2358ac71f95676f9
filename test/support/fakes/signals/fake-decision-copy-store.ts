import type { DecisionCopy, DecisionCopyStore } from '../../../../activities/ports/signals.js';

/** Copies in a Map. */
export function createFakeDecisionCopyStore(): DecisionCopyStore {
  const copies = new Map<string, DecisionCopy & { revision: number }>();
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
    async setBehind(watcher, version, behind) {
      const key = `${version}/${watcher}`;
      const copy = copies.get(key);
      if (copy !== undefined) copies.set(key, { ...copy, behind });
      return copy?.behind === true;
    },
    async drop(watcher, version) {
      copies.delete(`${version}/${watcher}`);
    },
  };
}
