import { noSuchPartition } from '../../../activities/documents/commands/refusals.js';
import { AppError } from '../../../schemas/app-error.js';
import { ROLES, inScope } from '../../../schemas/documents/users.js';
import type { Role, Scope } from '../../../schemas/documents/users.js';
import type { PartitionStore } from '../../../activities/ports/partitions.js';
import type { Caller } from './authentication.js';

function forbidden(text: string): AppError {
  return new AppError('AUTH_ERROR', text, { plain: true });
}

function requireRole(role: Role | undefined, partition: string, needed: Role): void {
  if (role === undefined) throw forbidden(`Access to partition '${partition}' forbidden`);
  if (ROLES.indexOf(role) < ROLES.indexOf(needed))
    throw forbidden(`Role '${needed}' required on partition '${partition}'`);
}

/**
 * The check order of the wire contract, section 1.1: a partition that exists asks for membership, then for the
 * role; a missing one is 404, but passes on an editor-level route, where an upload may create it.
 * @throws AppError, plain: PARTITION_NOT_FOUND or AUTH_ERROR
 */
export async function authorisePartition(
  partitions: Pick<PartitionStore, 'get'>,
  scope: Scope,
  partition: string,
  needed: Role,
): Promise<void> {
  // Whether it is there or not.
  if (scope.kind === 'all' && needed === 'editor') return;
  const role = scope.kind === 'partitions' && inScope(scope, partition) ? scope.roles[partition] : undefined;
  // A role was read from the partition's own record a moment ago: it is there.
  if (role === undefined && (await partitions.get(partition)) === null) {
    if (needed === 'editor') return;
    throw noSuchPartition(partition);
  }
  if (scope.kind === 'partitions') requireRole(role, partition, needed);
}

/**
 * The same for a request whose scope was read a moment ago: the partition may have been created since, by another of
 * the same caller's uploads. So before its owner is refused, the record is asked.
 * @returns the caller with the role found
 */
export async function authoriseCaller(
  partitions: Pick<PartitionStore, 'get' | 'roleOf'>,
  caller: Caller,
  partition: string,
  needed: Role,
): Promise<Caller> {
  const { principal, scope } = caller;
  try {
    await authorisePartition(partitions, scope, partition, needed);
    return caller;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'AUTH_ERROR' || inScope(scope, partition)) throw error;
    const role = await partitions.roleOf(principal.userId, partition);
    if (role === null) throw error;
    const roles = { ...(scope.kind === 'all' ? {} : scope.roles), [partition]: role };
    const present: Caller = { principal, scope: { ...scope, kind: 'partitions', roles } };
    await authorisePartition(partitions, present.scope, partition, needed);
    return present;
  }
}

/**
 * Once more, of the records as they are now: while the body of a request came, for up to an hour, a partition that was
 * missing may have been created by another user, and one of the caller's own deleted and created anew. A missing one is
 * refused: only an upload makes one, and looks again by itself.
 * @throws AppError, plain: PARTITION_NOT_FOUND or AUTH_ERROR
 */
export async function authoriseAnew(
  partitions: Pick<PartitionStore, 'get' | 'roleOf'>,
  { principal, scope }: Caller,
  partition: string,
  needed: Role,
): Promise<void> {
  const role = scope.kind === 'all' ? null : await partitions.roleOf(principal.userId, partition);
  if (role === null && (await partitions.get(partition)) === null) throw noSuchPartition(partition);
  if (scope.kind === 'partitions') requireRole(role ?? undefined, partition, needed);
}
