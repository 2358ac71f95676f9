import type { BackupStorage } from '../../../../activities/ports/backups.js';
import { AppError } from '../../../../schemas/app-error.js';

/** Objects in a Map. */
export function createFakeBackupStorage(): BackupStorage & { objects: Map<string, Buffer> } {
  const objects = new Map<string, Buffer>();
  return {
    objects,
    place: 'memory',
    async put(name, bytes, signal) {
      signal?.throwIfAborted();
      objects.set(name, Buffer.from(bytes));
    },
    async get(name) {
      const found = objects.get(name);
      if (found === undefined) throw new AppError('NOT_FOUND', `There is no ${name}.`);
      return Buffer.from(found);
    },
    folders: async () => [...new Set([...objects.keys()].map((name) => name.split('/')[0]!))],
    async removeFolder(folder) {
      for (const name of [...objects.keys()]) if (name.startsWith(`${folder}/`)) objects.delete(name);
    },
    close() {},
  };
}
