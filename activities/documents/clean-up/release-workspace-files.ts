import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { WorkspaceRecord } from '../../../schemas/documents/partitions.js';
import type { Adapters } from '../../ports/adapters.js';

/** So many files are let go at one time: the store serves others too. */
const AT_ONCE = 10;

export interface ReleasedFiles {
  /** What the files were that went with the workspace; they are tombstones now. Without their words: any number. */
  orphaned: Pick<FileRecord, 'file_key' | 'pending_task' | 'latest_generation'>[];
  /** File ids of those that could not be let go; the workspace's mark stays, and the sweep tries again. */
  failed: string[];
  kept: number;
}

/**
 * The rest of a workspace's deletion after its record has become a mark: every file is let go, those that lived by
 * it alone go with it, then the mark goes. It may be repeated, and run twice at once.
 */
export async function releaseWorkspaceFiles(
  { files, workspaces }: Pick<Adapters, 'files' | 'workspaces'>,
  workspace: Pick<WorkspaceRecord, 'workspace_key' | 'deleted'>,
): Promise<ReleasedFiles> {
  const released: ReleasedFiles = { orphaned: [], failed: [], kept: 0 };
  const keepFile = workspace.deleted?.keepFiles ?? true;
  const letGo = async (file: { file_key: string; file_id: string }): Promise<void> => {
    try {
      const answer = await files.releaseWorkspace(file.file_key, workspace.workspace_key, { keepFile });
      if (answer.outcome === 'orphaned') {
        const { file_key, pending_task, latest_generation } = answer.before;
        released.orphaned.push({ file_key, pending_task, latest_generation });
      }
      if (answer.outcome === 'kept') released.kept += 1;
    } catch {
      released.failed.push(file.file_id);
    }
  };
  const inside = await files.listByWorkspace(workspace.workspace_key);
  for (let from = 0; from < inside.length; from += AT_ONCE)
    await Promise.all(inside.slice(from, from + AT_ONCE).map(letGo));
  if (released.failed.length === 0) await workspaces.remove(workspace.workspace_key);
  return released;
}
