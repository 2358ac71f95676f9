import { z } from 'zod';
import type { Adapters } from '../../activities/ports/adapters.js';
import { AppError } from '../../schemas/app-error.js';
import type { PresetRecord, PresetType } from '../../schemas/models/presets.js';
import {
  IndexationConfigBody,
  RetrievalConfigBody,
  readIndexationConfig,
  readRetrievalConfig,
} from '../../schemas/models/presets-api.js';
import type { NewPreset, ReadConfig } from '../../schemas/models/presets-api.js';
import { parsePart } from '../http/request-issues.js';
import { invalidRequest } from '../../schemas/request-issues.js';
import { partitionsByPreset } from './find-references.js';
import { laterThan } from './follow-rename.js';
import { requireNamesInConfig } from '../../activities/models/require-names.js';

export type PresetDeps = Pick<Adapters, 'presets' | 'partitions' | 'endpoints' | 'prompts'>;

/** What every partition falls back to. */
const DEFAULT = 'default';

/** @throws AppError NOT_FOUND, plain */
export async function requirePreset(
  { presets }: Pick<PresetDeps, 'presets'>,
  type: PresetType,
  name: string,
): Promise<PresetRecord> {
  const found: PresetRecord | null = await presets.get(type, name);
  if (found === null)
    throw new AppError('NOT_FOUND', `Preset '${name}' (${type}) not found`, { plain: true });
  return found;
}

/** A preset after a change, and what of its config that was sent has no effect. */
export interface ChangedPreset {
  preset: PresetRecord;
  warnings: string[];
}

/** @throws AppError VALIDATION_ERROR, MODEL_ENDPOINT_NOT_FOUND, PROMPT_NOT_FOUND (422) */
async function readConfig(
  deps: PresetDeps,
  type: PresetType,
  given: unknown,
): Promise<ReadConfig<PresetRecord['config']>> {
  const parsed = <Schema extends z.ZodType>(schema: Schema): z.output<Schema> =>
    (parsePart(z.object({ config: schema }), { config: given }, 'body') as { config: z.output<Schema> })
      .config;
  const read =
    type === 'indexation'
      ? readIndexationConfig(parsed(IndexationConfigBody))
      : readRetrievalConfig(parsed(RetrievalConfigBody));
  await requireNamesInConfig(deps, type, read.config);
  return read;
}

/** @throws AppError PRESET_EXISTS, and as above */
export async function createPreset(
  deps: PresetDeps,
  { name, preset_type: type, config: given }: z.output<typeof NewPreset>,
): Promise<ChangedPreset> {
  const { config, warnings } = await readConfig(deps, type, given);
  const now = new Date();
  const preset = await deps.presets.create({
    name,
    preset_type: type,
    config,
    seeded: false,
    created_at: now,
    updated_at: now,
  } as PresetRecord);
  return { preset, warnings };
}

/**
 * A new name, in steps that may be repeated: the preset under the new name beside the old one, then the partitions,
 * then the old one goes.
 */
async function rename(deps: PresetDeps, present: PresetRecord, next: PresetRecord): Promise<PresetRecord> {
  const { preset_type: type, name: from } = present;
  const begun = await deps.presets.create({ ...next, renamed_from: from });
  await deps.partitions.renameReference(`${type}_preset`, from, next.name);
  await deps.presets.replace(begun, next);
  await deps.presets.remove(type, from);
  return next;
}

/**
 * Changes a preset; partitions follow a new name.
 * @throws AppError NOT_FOUND, PRESET_EXISTS, CONFLICT, VALIDATION_ERROR, MODEL_ENDPOINT_NOT_FOUND, PROMPT_NOT_FOUND
 */
export async function updatePreset(
  deps: PresetDeps,
  { type, name }: { type: PresetType; name: string },
  patch: { name?: string | undefined; config?: unknown },
): Promise<ChangedPreset> {
  const present = await requirePreset(deps, type, name);
  const renamed = patch.name !== undefined && patch.name !== name;
  if (renamed && name === DEFAULT)
    throw invalidRequest([
      {
        type: 'not_allowed',
        loc: ['body', 'name'],
        msg: 'The default preset keeps its name',
        input: patch.name,
      },
    ]);
  const { config, warnings } =
    patch.config === undefined
      ? { config: present.config, warnings: [] }
      : await readConfig(deps, type, patch.config);
  const { renamed_from: _, ...rest } = present;
  const next = {
    ...rest,
    config,
    name: patch.name ?? name,
    seeded: false,
    updated_at: laterThan(present.updated_at),
  } as PresetRecord;
  if (renamed) return { preset: await rename(deps, present, next), warnings };
  if (!(await deps.presets.replace(present, next)))
    throw new AppError('CONFLICT', 'The preset is being changed by another request; try again.');
  return { preset: next, warnings };
}

async function requireUnused(deps: PresetDeps, type: PresetType, name: string): Promise<void> {
  const count = (await partitionsByPreset(deps, type)).get(name) ?? 0;
  if (count > 0)
    throw new AppError('PRESET_IN_USE', `The preset '${name}' is used by ${count} partition(s).`);
}

/** @throws AppError NOT_FOUND, PRESET_IN_USE */
export async function deletePreset(
  deps: PresetDeps,
  { type, name }: { type: PresetType; name: string },
): Promise<void> {
  const present = await requirePreset(deps, type, name);
  if (name === DEFAULT) throw new AppError('PRESET_IN_USE', 'The default preset cannot be deleted.');
  await requireUnused(deps, type, name);
  await deps.presets.remove(type, name);
  // A partition may have taken it in the moment before: then it comes back as it was.
  await requireUnused(deps, type, name).catch(async (error: unknown) => {
    await deps.presets.create(present).catch(() => undefined);
    throw error;
  });
}
