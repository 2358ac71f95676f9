import { AppError } from '../schemas/app-error.js';
import { ROLES, inScope } from '../schemas/documents.js';
import type { Role, Scope } from '../schemas/documents.js';
import type { PartitionStore } from '../activities/ports.js';

const forbidden = (text: string): AppError => new AppError('AUTH_ERROR', text, { plain: true });

/**
 * The check order of the wire contract, section 1.1: a partition that exists asks for membership, then for the
 * role; a missing one is 404, but passes on an editor-level route, where an upload may create it.
 * @throws AppError, plain: PARTITION_NOT_FOUND or AUTH_ERROR
 */
export const authorisePartition = async (
  partitions: Pick<PartitionStore, 'get'>,
  scope: Scope,
  partition: string,
  needed: Role,
): Promise<void> => {
  const exists = (await partitions.get(partition)) !== null;
  if (!exists) {
    if (needed === 'editor') return;
    throw new AppError('PARTITION_NOT_FOUND', `Partition '${partition}' not found`, { plain: true });
  }
  if (scope.kind === 'all') return;
  const role = inScope(scope, partition) ? scope.roles[partition] : undefined;
  if (role === undefined) throw forbidden(`Access to partition '${partition}' forbidden`);
  if (ROLES.indexOf(role) < ROLES.indexOf(needed))
    throw forbidden(`Role '${needed}' required on partition '${partition}'`);
};
