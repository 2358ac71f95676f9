import type { SavedRuleStore } from '../../../../activities/ports/saved-rules.js';
import type { SavedRuleSet } from '../../../../schemas/signals/saved-rules.js';
import { copyRecord } from '../copy-record.js';

/** Versions in a list, the newest first. */
export function createFakeSavedRuleStore(): SavedRuleStore {
  let sets: SavedRuleSet[] = [];
  return {
    newest: async () => {
      const [set] = sets;
      return set === undefined ? null : { version: set.version, savedAt: set.savedAt };
    },
    async get(wanted) {
      const found = wanted === undefined ? sets[0] : sets.find(({ version }) => version === wanted);
      return found === undefined ? null : copyRecord(found);
    },
    list: async (limit) =>
      sets.slice(0, limit).map(({ texts, ...head }) => copyRecord({ ...head, rules: texts.length })),
    async save(set, { after, keep }) {
      if ((sets[0]?.version ?? 0) !== after) return null;
      const saved = { ...copyRecord(set), version: after + 1 };
      sets = [saved, ...sets].slice(0, keep);
      return copyRecord(saved);
    },
  };
}
