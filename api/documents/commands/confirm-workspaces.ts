import type { Adapters } from '../../../activities/ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import { finishFileDeletion } from './delete-file.js';
import type { DeleteFileDeps } from './delete-file.js';

function noSuchWorkspace(): AppError {
  return new AppError('WORKSPACE_NOT_FOUND', 'Workspace not found', { plain: true });
}

/**
 * Keys of the workspaces that an upload names.
 * @throws AppError WORKSPACE_NOT_FOUND (404), plain, for one that is not in this partition
 */
export async function findWorkspaces(
  { workspaces }: Pick<Adapters, 'workspaces'>,
  partition: string,
  workspaceIds: readonly string[],
): Promise<string[]> {
  const keys: string[] = [];
  for (const id of new Set(workspaceIds)) {
    const found = await workspaces.get(partition, id);
    if (found === null) throw noSuchWorkspace();
    keys.push(found.workspace_key);
  }
  return keys;
}

/**
 * Asked once a file is in its workspaces: one that was deleted in that moment did not see the file, so the file is
 * let go here. Either the deletion finds the file, or this finds the deletion.
 * @returns the keys of the workspaces that are still there
 */
export async function confirmWorkspaces(
  deps: DeleteFileDeps & Pick<Adapters, 'workspaces'>,
  fileKey: string,
  keys: readonly string[],
): Promise<string[]> {
  const present = await deps.workspaces.getMany(keys);
  for (const key of keys) {
    if (present.has(key)) continue;
    const answer = await deps.files.releaseWorkspace(fileKey, key, { keepFile: false });
    if (answer.outcome === 'orphaned') await finishFileDeletion(deps, answer.before);
  }
  return [...present.keys()];
}
