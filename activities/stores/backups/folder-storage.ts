import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../../schemas/app-error.js';
import type { BackupStorage } from '../../ports/backups.js';

/** What a process that died left half written; readers and `folders` pass over it. */
const UNFINISHED = '.unfinished-';

/** What does not pass by itself; a full disk does, once there is room. */
const FOR_GOOD: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ELOOP']);

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

/**
 * Backups in a folder, which gateways and workers share: on one machine as it is, on several as a mount. A file is
 * written beside its place and renamed once the disk has it, so that one that can be read is whole.
 */
export function createFolderStorage(folder: string): BackupStorage {
  const refused = (error: unknown): AppError =>
    new AppError(
      FOR_GOOD.has(codeOf(error)) ? 'BACKUP_STORAGE_REFUSED' : 'BACKUP_STORAGE_ERROR',
      `The backup folder ${folder} cannot be used: ${codeOf(error)}`,
      { cause: error },
    );

  const writeDurably = async (path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> => {
    const unfinished = join(dirname(path), `${UNFINISHED}${randomUUID()}`);
    let file: FileHandle | null = null;
    try {
      file = await open(unfinished, 'wx', 0o600);
      await file.writeFile(bytes, { signal });
      await file.sync();
      await file.close();
      file = null;
      await rename(unfinished, path);
    } catch (error) {
      await file?.close().catch(() => undefined);
      await unlink(unfinished).catch(() => undefined);
      throw error;
    }
  };

  /** With those of removals that were cut short. */
  const removeDoomed = async (): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }))
      if (entry.isDirectory() && entry.name.startsWith(UNFINISHED))
        await rm(join(folder, entry.name), { recursive: true, force: true });
  };

  return {
    place: folder,
    async put(name, bytes, signal) {
      const path = join(folder, name);
      signal?.throwIfAborted();
      try {
        // Uploads and digests of tokens stand in it: for the service's own user alone.
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeDurably(path, bytes, signal);
      } catch (error) {
        signal?.throwIfAborted();
        throw refused(error);
      }
    },
    async get(name, signal) {
      try {
        return await readFile(join(folder, name), { signal });
      } catch (error) {
        signal?.throwIfAborted();
        if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR')
          throw new AppError('NOT_FOUND', `There is no ${name} in ${folder}.`);
        throw refused(error);
      }
    },
    async folders() {
      try {
        const entries = await readdir(folder, { withFileTypes: true });
        return entries
          .filter((entry) => entry.isDirectory() && !entry.name.startsWith(UNFINISHED))
          .map(({ name }) => name);
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return [];
        throw refused(error);
      }
    },
    async removeFolder(name) {
      try {
        // Out of sight first: a removal that is cut short leaves nothing that looks like a backup.
        await rename(join(folder, name), join(folder, `${UNFINISHED}${randomUUID()}`));
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw refused(error);
      }
      try {
        await removeDoomed();
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw refused(error);
      }
    },
    close() {},
  };
}
