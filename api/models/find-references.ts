import type { Adapters } from '../../activities/ports/adapters.js';
import type { ModelType } from '../../schemas/models/model-endpoints.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { PresetRecord, PresetType } from '../../schemas/models/presets.js';
import {
  MODEL_REFERENCES,
  PARTITION_PROMPTS,
  PROMPT_REFERENCES,
  fieldsNaming,
} from '../../schemas/models/preset-references.js';
import type { PromptType } from '../../schemas/models/prompts.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

/** A record that names another one. */
export interface Reference {
  kind: 'partition' | 'indexation preset' | 'retrieval preset';
  name: string;
}

type Stores = Pick<Adapters, 'partitions' | 'presets'>;

function everyPartition(partitions: Stores['partitions']): Promise<PartitionRecord[]> {
  return partitions.list(EVERYTHING);
}

function naming(
  presets: readonly PresetRecord[],
  references: Parameters<typeof fieldsNaming>[0],
  type: string,
  name: string,
): Reference[] {
  return presets
    .filter(({ preset_type, config }) =>
      fieldsNaming(references, preset_type, type).some(
        (field) => (config as unknown as Record<string, unknown>)[field] === name,
      ),
    )
    .map((preset) => ({ kind: `${preset.preset_type} preset`, name: preset.name }));
}

function asReferences(partitions: readonly PartitionRecord[]): Reference[] {
  return partitions.map(({ partition }) => ({ kind: 'partition', name: partition }));
}

/** Who names a model endpoint. */
export async function referencesToEndpoint(
  stores: Stores,
  type: ModelType,
  name: string,
): Promise<Reference[]> {
  const [partitions, presets] = await Promise.all([everyPartition(stores.partitions), stores.presets.list()]);
  const theirs = partitions.filter(
    ({ embedder, swap, chat_llm }) =>
      (type === 'embedder' && (embedder === name || swap?.target === name)) ||
      (type === 'llm' && chat_llm === name),
  );
  return [...asReferences(theirs), ...naming(presets, MODEL_REFERENCES, type, name)];
}

/** How many partitions use each preset of a type. */
export async function partitionsByPreset(
  { partitions }: Pick<Stores, 'partitions'>,
  type: PresetType,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const partition of await everyPartition(partitions)) {
    const name = partition[`${type}_preset`];
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Who names each of some prompts, by `type/name`. */
export async function referencesToPrompts(
  stores: Stores,
  prompts: readonly { prompt_type: PromptType; name: string }[],
): Promise<Map<string, Reference[]>> {
  const [partitions, presets] = await Promise.all([everyPartition(stores.partitions), stores.presets.list()]);
  return new Map(
    prompts.map(({ prompt_type: type, name }) => {
      const slot = PARTITION_PROMPTS.find((one) => one === type);
      const theirs =
        slot === undefined
          ? []
          : partitions.filter(({ generation_prompt_names: names }) => names[slot] === name);
      return [
        `${type}/${name}`,
        [...asReferences(theirs), ...naming(presets, PROMPT_REFERENCES, type, name)],
      ];
    }),
  );
}

const MAX_NAMED = 5;

/** For people: `partition 'a', retrieval preset 'b' and 3 more`. */
export function listReferences(references: readonly Reference[]): string {
  const named = references.slice(0, MAX_NAMED).map(({ kind, name }) => `${kind} '${name}'`);
  const more = references.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
