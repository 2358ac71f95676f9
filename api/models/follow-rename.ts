import type { Adapters } from '../../activities/ports/adapters.js';
import { AppError } from '../../schemas/app-error.js';
import type { ModelType } from '../../schemas/models/model-endpoints.js';
import type { PresetRecord } from '../../schemas/models/presets.js';
import {
  MODEL_REFERENCES,
  PARTITION_PROMPTS,
  PROMPT_REFERENCES,
  fieldsNaming,
} from '../../schemas/models/preset-references.js';
import type { PromptType } from '../../schemas/models/prompts.js';

type Stores = Pick<Adapters, 'partitions' | 'presets' | 'files' | 'endpoints'>;

const TRIES = 5;

/** The moment of a change that was read before; later than that one, also within a millisecond. */
export function laterThan(before: Date): Date {
  return new Date(Math.max(Date.now(), before.getTime() + 1));
}

async function renameInPreset(
  presets: Adapters['presets'],
  read: PresetRecord,
  fields: readonly string[],
  { from, to }: { from: string; to: string },
): Promise<void> {
  let preset: PresetRecord | null = read;
  for (let attempt = 0; attempt < TRIES && preset !== null; attempt += 1) {
    const config: Record<string, unknown> = { ...preset.config };
    const named = fields.filter((field) => config[field] === from);
    if (named.length === 0) return;
    for (const field of named) config[field] = to;
    const renamed = {
      ...preset,
      config,
      updated_at: laterThan(preset.updated_at),
    } as unknown as PresetRecord;
    if (await presets.replace(preset, renamed)) return;
    preset = await presets.get(preset.preset_type, preset.name);
  }
  if (preset !== null)
    throw new AppError('CONFLICT', `The preset '${read.name}' is being changed; try again.`);
}

async function renameInPresets(
  presets: Adapters['presets'],
  references: Parameters<typeof fieldsNaming>[0],
  type: string,
  names: { from: string; to: string },
): Promise<void> {
  for (const preset of await presets.list())
    await renameInPreset(presets, preset, fieldsNaming(references, preset.preset_type, type), names);
}

/** Whatever names a model endpoint names it anew. Repeating it is harmless. */
export async function followEndpointRename(
  stores: Stores,
  type: ModelType,
  names: { from: string; to: string },
): Promise<void> {
  const { from, to } = names;
  if (type === 'embedder') {
    await stores.partitions.renameReference('embedder', from, to);
    await stores.partitions.renameReference('swap.target', from, to);
    await stores.files.renameEmbedder(from, to);
  }
  if (type === 'llm') await stores.partitions.renameReference('chat_llm', from, to);
  await renameInPresets(stores.presets, MODEL_REFERENCES, type, names);
  await stores.endpoints.moveDefault(type, from, to);
}

/** Whatever names a prompt names it anew. Repeating it is harmless. */
export async function followPromptRename(
  stores: Pick<Stores, 'partitions' | 'presets'>,
  type: PromptType,
  names: { from: string; to: string },
): Promise<void> {
  const slot = PARTITION_PROMPTS.find((one) => one === type);
  if (slot !== undefined)
    await stores.partitions.renameReference(`generation_prompt_names.${slot}`, names.from, names.to);
  await renameInPresets(stores.presets, PROMPT_REFERENCES, type, names);
}
