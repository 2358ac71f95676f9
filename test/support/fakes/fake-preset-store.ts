import type { PresetStore } from '../../../activities/ports.js';
import type { PresetRecord, PresetType } from '../../../schemas/documents.js';
import { copyRecord } from './copy-record.js';

/** Presets in a Map. */
export const createFakePresetStore = (): PresetStore => {
  const presets = new Map<string, PresetRecord>();
  return {
    async list(type) {
      return [...presets.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, preset]) => copyRecord(preset))
        .filter(({ preset_type }) => type === undefined || preset_type === type);
    },
    async get<Type extends PresetType>(type: Type, name: string) {
      const preset = presets.get(`${type}/${name}`) ?? null;
      return copyRecord(preset as Extract<PresetRecord, { preset_type: Type }> | null);
    },
    async seed(preset) {
      const id = `${preset.preset_type}/${preset.name}`;
      const present = presets.get(id);
      if (present?.seeded === false) return;
      const created_at = present?.created_at ?? new Date();
      presets.set(
        id,
        copyRecord({ ...preset, seeded: true, created_at, updated_at: created_at } as PresetRecord),
      );
    },
  };
};
