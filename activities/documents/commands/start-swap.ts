import { randomUUID } from 'node:crypto';
import type { Adapters } from '../../ports/adapters.js';
import type { SwapStarter } from '../../ports/embedder-swaps.js';
import { AppError } from '../../../schemas/app-error.js';
import type { EmbedderSwapRecord, SwapGates, SwapStart } from '../../../schemas/documents/embedder-swaps.js';
import { DEFAULT_ALIAS } from '../../../schemas/models/endpoint-names.js';
import type { ModelEndpoint } from '../../../schemas/models/model-endpoints.js';
import { notRegistered } from '../../../schemas/models/not-registered.js';

type Stores = Pick<Adapters, 'partitions' | 'models' | 'embedderSwaps' | 'questionSets'>;

/**
 * The embedder that a swap leads to.
 * @throws AppError EMBEDDER_ALIAS_NOT_ALLOWED, MODEL_ENDPOINT_NOT_FOUND (422), EMBEDDER_VECTOR_FIELD_MISSING (409)
 */
export async function requireSwapTarget(
  { models }: Pick<Stores, 'models'>,
  name: string,
): Promise<ModelEndpoint> {
  const endpoints = await models.list('embedder');
  const endpoint = endpoints.find((one) => one.name === name);
  if (endpoint === undefined && name === DEFAULT_ALIAS) throw new AppError('EMBEDDER_ALIAS_NOT_ALLOWED');
  if (endpoint === undefined) throw notRegistered('embedder', name);
  if (endpoint.vector_field === null) throw new AppError('EMBEDDER_VECTOR_FIELD_MISSING');
  return endpoint;
}

/**
 * Starts the move of a partition to another embedder.
 * @throws AppError as `requireSwapTarget`; PARTITION_NOT_FOUND; CONFLICT when it has this embedder;
 *   QUESTION_SET_NOT_FOUND; EMBEDDER_SWAP_IN_PROGRESS; SERVICE_UNAVAILABLE when Temporal is away
 */
export async function startSwap(
  stores: Stores,
  workflows: SwapStarter,
  asked: { partition: string; target: string; userId: number; gates: SwapGates },
): Promise<EmbedderSwapRecord> {
  const { name: target } = await requireSwapTarget(stores, asked.target);
  const partition = await stores.partitions.get(asked.partition);
  if (partition === null) throw new AppError('PARTITION_NOT_FOUND', undefined, { plain: true });
  const { embedder: source } = partition;
  if (source === target)
    throw new AppError('CONFLICT', `The partition has the embedder '${target}' already.`);
  const { question_set: set = null } = asked.gates;
  if (set !== null && (await stores.questionSets.get(partition.partition_key, set, null)) === null)
    throw new AppError('QUESTION_SET_NOT_FOUND', `There is no question set '${set}'.`);
  const start: SwapStart = {
    swap_id: randomUUID(),
    partition: partition.partition,
    partition_key: partition.partition_key,
    source_embedder: source,
    target_embedder: target,
    started_by: String(asked.userId),
    ...asked.gates,
  };
  await workflows.startSwap(start);
  // The workflow does the same; whichever comes first.
  await stores.embedderSwaps.insert(start);
  const swap = await stores.embedderSwaps.get(start.swap_id);
  if (swap === null) throw new AppError('UNEXPECTED_ERROR');
  return swap;
}
