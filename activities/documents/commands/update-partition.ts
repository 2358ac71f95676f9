import type { Adapters } from '../../ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import type { PartitionPatch, PartitionRecord } from '../../../schemas/documents/partitions.js';
import { DEFAULT_ALIAS } from '../../../schemas/models/endpoint-names.js';
import { notRegistered } from '../../../schemas/models/not-registered.js';
import { PARTITION_PROMPTS } from '../../../schemas/models/preset-references.js';
import { requirePrompt } from '../../models/require-names.js';
import { noSuchPartition } from './refusals.js';

export type UpdatePartitionDeps = Pick<Adapters, 'partitions' | 'files' | 'models' | 'presets' | 'prompts'>;

/**
 * Changes a partition's settings; every name must be registered. The embedder `default` is put down under the name of
 * the endpoint that it stands for now: the vectors of a partition come from one embedder, also when another becomes
 * the default.
 * @throws AppError MODEL_ENDPOINT_NOT_FOUND, PRESET_NOT_FOUND, PROMPT_NOT_FOUND (422);
 *   PARTITION_HAS_INDEXED_FILES, INDEXING_IN_PROGRESS, EMBEDDER_SWAP_IN_PROGRESS (409); PARTITION_NOT_FOUND
 */
export async function updatePartition(
  deps: UpdatePartitionDeps,
  partition: string,
  { embedder: named, ...patch }: PartitionPatch,
): Promise<PartitionRecord> {
  const present = await deps.partitions.get(partition);
  if (present === null) throw noSuchPartition(partition);
  const embedder = named === undefined ? undefined : await registeredEmbedder(deps, named);
  await requireRegistered(deps, patch);
  if (embedder !== undefined && embedder !== present.embedder && present.swap !== null)
    throw new AppError('EMBEDDER_SWAP_IN_PROGRESS');
  if (embedder !== undefined && embedder !== present.embedder)
    await changeEmbedder(deps, partition, { from: present.embedder, to: embedder });
  const updated = Object.keys(patch).length === 0 ? null : await deps.partitions.update(partition, patch);
  const record = updated ?? (await deps.partitions.get(partition));
  if (record === null) throw noSuchPartition(partition);
  return record;
}

/** @throws AppError MODEL_ENDPOINT_NOT_FOUND */
async function registeredEmbedder({ models }: UpdatePartitionDeps, name: string): Promise<string> {
  const endpoints = await models.list('embedder');
  const chosen =
    endpoints.find((endpoint) => endpoint.name === name) ??
    (name === DEFAULT_ALIAS ? endpoints.find((endpoint) => endpoint.is_default) : undefined);
  if (chosen === undefined) throw notRegistered('embedder', name);
  return chosen.name;
}

async function requireRegistered(
  { models, presets, prompts }: UpdatePartitionDeps,
  patch: PartitionPatch,
): Promise<void> {
  const { chat_llm: llm } = patch;
  if (llm != null && llm !== DEFAULT_ALIAS) {
    const endpoints = await models.list('llm');
    if (!endpoints.some((endpoint) => endpoint.name === llm)) throw notRegistered('llm', llm);
  }
  const wanted = { indexation: patch.indexation_preset, retrieval: patch.retrieval_preset };
  for (const [type, name] of Object.entries(wanted) as ['indexation' | 'retrieval', string | undefined][])
    if (name !== undefined && (await presets.get(type, name)) === null)
      throw new AppError('PRESET_NOT_FOUND', `The ${type} preset '${name}' does not exist.`);
  for (const slot of PARTITION_PROMPTS) {
    const name = patch.generation_prompt_names?.[slot];
    if (name != null) await requirePrompt({ prompts }, slot, name);
  }
}

/**
 * Only an empty, quiet partition takes another embedder. It is asked before the change and again after it: an upload
 * that was admitted in between, with the old one, is found then, and the change taken back. One that is admitted
 * later fails by itself, with EMBEDDER_CHANGED_DURING_INDEXING.
 */
async function changeEmbedder(
  deps: UpdatePartitionDeps,
  partition: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await requireEmpty(deps, partition);
  if ((await deps.partitions.update(partition, { embedder: to }, { embedder: from })) === null)
    throw new AppError('CONFLICT', 'The embedder was changed by another request; try again.');
  try {
    await requireEmpty(deps, partition);
  } catch (error) {
    await deps.partitions.update(partition, { embedder: from }, { embedder: to });
    throw error;
  }
}

async function requireEmpty({ files }: UpdatePartitionDeps, partition: string): Promise<void> {
  if (((await files.countLive([partition])).get(partition) ?? 0) > 0)
    throw new AppError('PARTITION_HAS_INDEXED_FILES');
  if ((await files.countPending(partition)) > 0) throw new AppError('INDEXING_IN_PROGRESS');
}
