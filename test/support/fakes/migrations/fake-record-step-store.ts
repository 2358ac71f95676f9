import type { RecordStepStore } from '../../../../activities/ports/migrations.js';

/** Names of steps in a Set. */
export function createFakeRecordStepStore(): RecordStepStore {
  const steps = new Set<string>();
  return {
    applied: async () => [...steps].sort(),
    async markApplied(step) {
      steps.add(step);
    },
  };
}
