import type { Adapters } from '../../activities/ports/adapters.js';
import type { ReadyBody } from '../../schemas/documents/documents-api.js';
import { DEFAULT_ALIAS } from '../../schemas/models/endpoint-names.js';
import {
  MODEL_REFERENCES,
  PARTITION_PROMPTS,
  PROMPT_REFERENCES,
} from '../../schemas/models/preset-references.js';
import type { ModelType } from '../../schemas/models/model-endpoints.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { PresetRecord, PresetType } from '../../schemas/models/presets.js';
import type { PromptType } from '../../schemas/models/prompts.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

type Stores = Pick<Adapters, 'partitions' | 'presets' | 'endpoints' | 'prompts'>;

/** A name that stands somewhere for a record. */
type Named =
  | { kind: 'model'; type: ModelType; name: string }
  | { kind: 'preset'; type: PresetType; name: string }
  | { kind: 'prompt'; type: PromptType; name: string };

function namedBy<Kind extends Named['kind'], Type>(
  kind: Kind,
  values: object,
  references: Readonly<Record<string, Type | undefined>>,
) {
  return Object.entries(references).flatMap(([field, type]) => {
    const name = (values as Record<string, unknown>)[field];
    return typeof name === 'string' && type !== undefined && name !== DEFAULT_ALIAS
      ? [{ kind, type, name }]
      : [];
  });
}

function namedByPreset({ preset_type, config }: PresetRecord): Named[] {
  return [
    ...namedBy<'model', ModelType>('model', config, MODEL_REFERENCES[preset_type]),
    ...namedBy<'prompt', PromptType>('prompt', config, PROMPT_REFERENCES[preset_type]),
  ];
}

function namedByPartition(partition: PartitionRecord): Named[] {
  return [
    // No alias here: a partition names its embedder and its presets themselves.
    { kind: 'model', type: 'embedder', name: partition.embedder },
    { kind: 'preset', type: 'indexation', name: partition.indexation_preset },
    { kind: 'preset', type: 'retrieval', name: partition.retrieval_preset },
    ...namedBy<'model', ModelType>('model', partition, { chat_llm: 'llm' }),
    ...namedBy<'prompt', PromptType>(
      'prompt',
      partition.generation_prompt_names,
      Object.fromEntries(PARTITION_PROMPTS.map((type) => [type, type])),
    ),
  ];
}

function shownKind({ kind, type }: Named): string {
  if (kind === 'model') return type;
  return kind === 'preset' ? `${type}_preset` : 'prompt';
}

export interface ConfigurationReferences {
  /**
   * How many names resolve to nothing, by what they should be: a type of model endpoint, `indexation_preset`,
   * `retrieval_preset` or `prompt`. Edits and deletions prevent it; two at the same moment, or a restored database, may
   * leave some. The names themselves are not told: the probe needs no token.
   */
  unresolved: ReadyBody['configuration_references'];
  /** The registered endpoints that are named, each once. */
  models: { type: ModelType; name: string }[];
}

/** What the names in partitions and presets stand for. */
export async function lookUpReferences(stores: Stores): Promise<ConfigurationReferences> {
  const [partitions, presets, endpoints] = await Promise.all([
    stores.partitions.list(EVERYTHING),
    stores.presets.list(),
    stores.endpoints.list(),
  ]);
  const registered = new Set([
    ...endpoints.map(({ model_type, name }) => JSON.stringify(['model', model_type, name])),
    ...presets.map(({ preset_type, name }) => JSON.stringify(['preset', preset_type, name])),
  ]);
  const named = new Map<string, Named>();
  for (const one of [...partitions.flatMap(namedByPartition), ...presets.flatMap(namedByPreset)])
    named.set(JSON.stringify([one.kind, one.type, one.name]), one);

  const counts = new Map<string, number>();
  for (const [key, one] of named) {
    const found =
      one.kind === 'prompt' ? (await stores.prompts.find(one.type, one.name)) !== null : registered.has(key);
    if (!found) counts.set(shownKind(one), (counts.get(shownKind(one)) ?? 0) + 1);
  }
  return {
    unresolved: [...counts].map(([kind, count]) => ({ kind, count, status: 'unresolvable' })),
    models: [...named].flatMap(([key, one]) =>
      one.kind === 'model' && registered.has(key) ? [{ type: one.type, name: one.name }] : [],
    ),
  };
}
