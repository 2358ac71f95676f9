import type { PresetStore } from '../../../../activities/ports/model-administration.js';
import { AppError } from '../../../../schemas/app-error.js';
import { currentPreset } from '../../../../schemas/models/presets.js';
import type { PresetRecord, PresetType } from '../../../../schemas/models/presets.js';
import { copyRecord } from '../copy-record.js';

/** As the real store does: what an earlier release put down is read under the names of now. */
function outside(preset: PresetRecord): PresetRecord {
  return copyRecord(currentPreset(preset));
}

/** Presets in a Map. */
export function createFakePresetStore(): PresetStore {
  const presets = new Map<string, PresetRecord>();
  const removed = new Set<string>();
  return {
    async list(type) {
      return [...presets.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, preset]) => outside(preset))
        .filter(({ preset_type }) => type === undefined || preset_type === type);
    },
    async get<Type extends PresetType>(type: Type, name: string) {
      const preset = presets.get(`${type}/${name}`);
      return preset === undefined ? null : (outside(preset) as Extract<PresetRecord, { preset_type: Type }>);
    },
    async create(preset) {
      const id = `${preset.preset_type}/${preset.name}`;
      const present = presets.get(id);
      const begun = present !== undefined && present.renamed_from === preset.renamed_from;
      if (begun && preset.renamed_from !== undefined) return copyRecord(present);
      if (present !== undefined) throw new AppError('PRESET_EXISTS');
      presets.set(id, copyRecord(preset));
      return preset;
    },
    async replace(before, after) {
      const id = `${before.preset_type}/${before.name}`;
      if (presets.get(id)?.updated_at.getTime() !== before.updated_at.getTime()) return false;
      presets.set(id, copyRecord(after));
      return true;
    },
    async remove(type, name) {
      removed.add(`${type}/${name}`);
      return presets.delete(`${type}/${name}`);
    },
    async seed(preset) {
      const id = `${preset.preset_type}/${preset.name}`;
      const present = presets.get(id);
      if (present?.seeded === false || (present === undefined && removed.has(id))) return;
      const created_at = present?.created_at ?? new Date();
      presets.set(
        id,
        copyRecord({ ...preset, seeded: true, created_at, updated_at: created_at } as PresetRecord),
      );
    },
  };
}
