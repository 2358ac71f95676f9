import type { Adapters } from '../../ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import { DEFAULT_ALIAS } from '../../../schemas/models/endpoint-names.js';
import type { Principal } from '../../../schemas/documents/users.js';
import { requireIdentifier } from './identifiers.js';
import { requireQuota } from './reserve-quota.js';

/** Work ends one by one, so there is room again soon; a client that comes back sooner only adds to the load. */
const RETRY_AFTER_MS = 10_000;

interface QueueBounds {
  maxQueuedTasks: number;
  maxQueuedTasksPerUser: number;
}

type RequireAdmissibleDeps = QueueBounds & { defaultFileQuota: number } & Pick<
    Adapters,
    'tasks' | 'chunks' | 'users' | 'quotas' | 'files'
  >;

/**
 * What a new task for a file is refused for before its bytes have come. Only the admission decides.
 * @param input.adds whether there will be one file more
 * @throws AppError VALIDATION_ERROR (422); VDB_SCHEMA_MIGRATION_REQUIRED (503); RATE_LIMITED (429) with a time to wait;
 *   QUOTA_EXCEEDED (403), plain
 */
export async function requireAdmissible(
  deps: RequireAdmissibleDeps,
  input: {
    partition: string;
    fileId: string;
    principal: Pick<Principal, 'userId' | 'isAdmin'>;
    adds: boolean;
  },
): Promise<void> {
  requireIdentifier('partition name', input.partition);
  requireIdentifier('file id', input.fileId);
  await deps.chunks.requireSchema();
  const { userId, isAdmin } = input.principal;
  await requireRoom(deps, userId);
  // Administrators have none.
  if (input.adds && !isAdmin) await requireQuota(deps, userId);
}

/**
 * Whether one more task may be queued. So many uploads as run at once may pass the bounds, which keep memory and
 * waiting times within limits and are no promise of a number.
 */
async function requireRoom(
  { tasks, ...bounds }: Pick<Adapters, 'tasks'> & QueueBounds,
  userId: number,
): Promise<void> {
  const [own, all] = await Promise.all([
    tasks.countActive(userId, bounds.maxQueuedTasksPerUser),
    tasks.countActive(null, bounds.maxQueuedTasks),
  ]);
  if (own >= bounds.maxQueuedTasksPerUser || all >= bounds.maxQueuedTasks)
    throw new AppError('RATE_LIMITED', undefined, { retryAfterMs: RETRY_AFTER_MS });
}

/**
 * A partition of an earlier release that uses "the default embedder" takes no files before it is tied to one.
 * @throws AppError DEFAULT_EMBEDDER_MIGRATION_REQUIRED
 */
export async function requireEmbedder(
  { models }: Pick<Adapters, 'models'>,
  { embedder }: { embedder: string },
): Promise<void> {
  if (embedder !== DEFAULT_ALIAS) return;
  const endpoints = await models.list('embedder');
  if (!endpoints.some(({ name }) => name === DEFAULT_ALIAS))
    throw new AppError('DEFAULT_EMBEDDER_MIGRATION_REQUIRED');
}
