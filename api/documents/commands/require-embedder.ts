import type { Adapters } from '../../../activities/ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import { DEFAULT_ALIAS } from '../../../schemas/models/endpoint-names.js';

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
