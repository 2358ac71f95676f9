import { randomUUID } from 'node:crypto';
import type { RecordStore } from '../../../activities/ports/record-store.js';

export function createFakeRecordStore(): RecordStore {
  const id = randomUUID();
  return { id: async () => id };
}
