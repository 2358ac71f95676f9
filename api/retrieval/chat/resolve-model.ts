import type { Adapters } from '../../../activities/ports/adapters.js';
import type { ChatRequest } from '../../../activities/retrieval/chat/chat-request.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { authorisePartition } from '../../http/middleware/authorise-partition.js';

/** Accepted whatever is listed: the agreed one, the peer service's, and its older one. */
const PREFIXES = ['rag-', 'openrag-', 'ragondin-'];
const EVERYTHING = 'partition-all';

/** The model names listed for a caller: one per partition, and one for all of them. */
export function modelIds(prefix: string) {
  return {
    partition: (partition: string): string => `${prefix}${partition}`,
    all: prefix === 'rag-' ? EVERYTHING : `${prefix}all`,
  };
}

/**
 * What a chat request's `model` means (wire contract, section 1.9).
 * @throws AppError, plain: NOT_FOUND for a name that means nothing, PARTITION_NOT_FOUND, AUTH_ERROR
 */
export async function resolveModel(
  { partitions, models }: Pick<Adapters, 'partitions' | 'models'>,
  scope: Scope,
  prefix: string,
  model: string | null | undefined,
): Promise<ChatRequest['target']> {
  if (model === undefined || model === null || model === '') return { kind: 'direct' };
  const configured = (await models.list('llm')).find(({ is_default }) => is_default);
  if (configured !== undefined && [configured.name, configured.model_name].includes(model))
    return { kind: 'direct' };
  if (model === EVERYTHING) return { kind: 'retrieval', partitions: 'all' };
  const known = [prefix, ...PREFIXES].find((start) => model.startsWith(start) && model.length > start.length);
  if (known === undefined) throw new AppError('NOT_FOUND', `Model '${model}' not found`, { plain: true });
  const partition = model.slice(known.length);
  if (partition === 'all') return { kind: 'retrieval', partitions: 'all' };
  await authorisePartition(partitions, scope, partition, 'viewer');
  return { kind: 'retrieval', partitions: [partition] };
}
