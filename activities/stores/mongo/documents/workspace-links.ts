import type { Collection } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { FileStore } from '../../../ports/files.js';
import { LIVE, NAMED, nameKey, PRESENT, toFileRecord, tombstone } from './file-document.js';
import type { FileDocument } from './file-document.js';

type WorkspaceLinks = Pick<
  FileStore,
  | 'listByWorkspace'
  | 'listPlaced'
  | 'listWorkspaceKeys'
  | 'attachWorkspace'
  | 'detachWorkspace'
  | 'releaseWorkspace'
>;

/** How often a record may change between two looks at it before we give up. */
const ATTEMPTS = 5;

/** Which workspaces a file is in stands in its record, so that the last one to let go of it is known for certain. */
export function createWorkspaceLinks(files: Collection<FileDocument>): WorkspaceLinks {
  return {
    async listByWorkspace(workspaceKey) {
      const documents = await files
        .find(
          { workspaces: workspaceKey, ...NAMED },
          { projection: { file_id: 1, partition: 1, 'live.generation': 1 } },
        )
        .sort({ file_id: 1 })
        .toArray();
      return documents.map(({ _id, partition, file_id, live }) => ({
        file_key: _id,
        partition,
        file_id,
        // Left out of the answer where it is null, since nothing lies in it.
        is_live: live != null,
      }));
    },

    async listPlaced(partition, fileIds) {
      const names = fileIds.map((fileId) => nameKey(partition, fileId));
      const documents = await files
        .find(
          { name_key: { $in: names }, live: { $ne: null } },
          { projection: { file_id: 1, partition: 1, workspaces: 1 } },
        )
        .toArray();
      return documents.map(({ _id, partition: place, file_id, workspaces = [] }) => ({
        file_key: _id,
        partition: place,
        file_id,
        workspaces,
      }));
    },

    async listWorkspaceKeys(workspaceKey) {
      const documents = await files
        .find({ workspaces: workspaceKey, ...LIVE }, { projection: { _id: 1 } })
        .toArray();
      return documents.map(({ _id }) => _id);
    },

    async attachWorkspace({ file_key, partition }, workspaceKey) {
      const { matchedCount } = await files.updateOne(
        { _id: file_key, partition, ...LIVE },
        { $addToSet: { workspaces: workspaceKey } },
      );
      return matchedCount === 1;
    },

    async detachWorkspace(fileKey, workspaceKey) {
      const inside = { _id: fileKey, workspaces: workspaceKey, ...NAMED };
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        // It has outlived its last one, and stands by itself: a later workspace must not take it along.
        const last = await files.updateOne(
          { ...inside, 'workspaces.1': { $exists: false } },
          { $set: { workspaces: [], independent: true } },
        );
        if (last.matchedCount === 1) return true;
        const oneOfSeveral = await files.updateOne(
          { ...inside, 'workspaces.1': { $exists: true } },
          { $pull: { workspaces: workspaceKey } },
        );
        if (oneOfSeveral.matchedCount === 1) return true;
        if ((await files.countDocuments(inside, { limit: 1 })) === 0) return false;
      }
      throw new AppError('CONFLICT', 'The file changed while it was taken out of its workspace; try again.');
    },

    async releaseWorkspace(fileKey, workspaceKey, { keepFile }) {
      const only = { _id: fileKey, workspaces: workspaceKey, 'workspaces.1': { $exists: false } };
      // An attachment goes with its mail, and with nothing else.
      const lastOfItsOwn = { ...only, independent: false, attached: { $exists: false }, ...PRESENT };
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const now = new Date();
        if (keepFile) {
          // It stands by itself from now on: a later workspace must not take it along.
          const kept = await files.updateOne(lastOfItsOwn, { $set: { workspaces: [], independent: true } });
          if (kept.matchedCount === 1) return { outcome: 'kept' };
        } else {
          const before = await files.findOneAndUpdate(lastOfItsOwn, tombstone(now), {
            returnDocument: 'before',
          });
          if (before !== null) return { outcome: 'orphaned', before: toFileRecord(before) };
        }
        const released = await files.updateOne(
          {
            _id: fileKey,
            workspaces: workspaceKey,
            // Not its last one, or not a file that goes with it, or a record that holds nothing.
            $or: [
              { independent: { $ne: false } },
              { attached: { $exists: true } },
              { 'workspaces.1': { $exists: true } },
              { live: null, pending_task: null },
            ],
          },
          { $pull: { workspaces: workspaceKey } },
        );
        if (released.matchedCount === 1) return { outcome: 'released' };
        if ((await files.countDocuments({ _id: fileKey, workspaces: workspaceKey }, { limit: 1 })) === 0)
          return { outcome: 'gone' };
      }
      throw new AppError('CONFLICT', 'The file changed while its workspace was deleted; try again.');
    },
  };
}
