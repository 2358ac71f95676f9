import type { Adapters } from '../../ports/adapters.js';
import { releaseWorkspaceFiles } from '../clean-up/release-workspace-files.js';
import { finishFileDeletions } from './delete-file.js';
import type { DeleteFileDeps } from './delete-file.js';

/**
 * Deletes a workspace: after one update its id is free and it is not listed. Files that were uploaded with it, and are
 * in no other workspace, go too, unless they shall be kept. What a crash cuts short the sweep finishes.
 * @returns null when there is no such workspace
 */
export async function deleteWorkspace(
  deps: DeleteFileDeps & Pick<Adapters, 'workspaces'>,
  where: { partition: string; workspaceId: string },
  { keepFiles }: { keepFiles: boolean },
): Promise<{ deleted: number; failed: string[]; kept: number } | null> {
  const workspace = await deps.workspaces.markDeleted(where.partition, where.workspaceId, { keepFiles });
  if (workspace === null) return null;
  const { orphaned, failed, kept } = await releaseWorkspaceFiles(deps, workspace);
  // Their records have decided already; the claims must be free when we answer.
  await finishFileDeletions(deps, orphaned);
  return { deleted: orphaned.length, failed, kept };
}
