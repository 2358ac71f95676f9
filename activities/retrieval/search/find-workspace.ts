import { AppError } from '../../../schemas/app-error.js';
import type { WorkspaceRecord } from '../../../schemas/documents/partitions.js';
import type { WorkspaceStore } from '../../ports/partitions.js';

/**
 * The one workspace of an id in the searched partitions.
 * @throws AppError WORKSPACE_NOT_FOUND, plain; WORKSPACE_AMBIGUOUS with the partitions that have one
 */
export async function findWorkspace(
  workspaces: Pick<WorkspaceStore, 'find'>,
  partitions: readonly string[],
  workspaceId: string,
): Promise<WorkspaceRecord> {
  const [found, ...others] = await workspaces.find(partitions, workspaceId);
  if (found === undefined) throw new AppError('WORKSPACE_NOT_FOUND', 'Workspace not found', { plain: true });
  if (others.length > 0)
    throw new AppError('WORKSPACE_AMBIGUOUS', undefined, {
      details: {
        workspace_id: workspaceId,
        partitions: [found, ...others].map(({ partition }) => partition).sort(),
      },
    });
  return found;
}
