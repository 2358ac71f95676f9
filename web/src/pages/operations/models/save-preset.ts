import { api, bodyOf, send } from '../../../api/client';
import type { Preset } from './queries';

/** A preset as its editor has it. */
export interface PresetValues {
  name: string;
  type: Preset['preset_type'];
  /** JSON. */
  config: string;
}

/** The configuration is another one than the editor was opened with. */
export class PresetChanged extends Error {
  override readonly name = 'PresetChanged';
}

export function configText(preset: Pick<Preset, 'config'> | null): string {
  return JSON.stringify(preset?.config ?? {}, null, 2);
}

/** A configuration takes the place of the whole one: what others have saved since the list was read would be lost. */
async function assertUnchanged(opened: Preset): Promise<void> {
  const { preset_type: type, name } = opened;
  const now = await bodyOf(api.GET('/presets/{type}/{name}', { params: { path: { type, name } } }));
  if (configText(now) !== configText(opened)) throw new PresetChanged();
}

async function write(path: string, method: 'POST' | 'PUT', body: object): Promise<readonly string[]> {
  const response = await send(path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as Preset).warnings ?? [];
}

/**
 * Creates a preset, or changes what its editor has changed; what cannot be is refused by the server with its field.
 * Answers the server's warnings.
 *
 * @param opened as it was when its editor was opened; null: a new one
 * @throws PresetChanged, ApiError
 */
export async function savePreset(
  opened: Preset | null,
  { name, type, config }: PresetValues,
): Promise<readonly string[]> {
  const parsed = JSON.parse(config) as unknown;
  if (opened === null) return write('/presets/', 'POST', { name, preset_type: type, config: parsed });
  const isConfigChanged = config !== configText(opened);
  if (isConfigChanged) await assertUnchanged(opened);
  if (!isConfigChanged && name === opened.name) return [];
  return write(`/presets/${type}/${encodeURIComponent(opened.name)}`, 'PUT', {
    ...(name === opened.name ? {} : { name }),
    ...(isConfigChanged ? { config: parsed } : {}),
  });
}
