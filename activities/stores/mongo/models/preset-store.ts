import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import { currentPreset } from '../../../../schemas/models/presets.js';
import type { PresetRecord, PresetType } from '../../../../schemas/models/presets.js';
import type { PresetStore } from '../../../ports/model-administration.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

/** A seeded preset that was removed leaves its id behind, so that the next start does not bring it back. */
type PresetDocument = PresetRecord & { _id: string; removed?: true };

const PRESENT = { removed: { $exists: false } } as const;

function presetId(type: PresetType, name: string): string {
  return `${type}/${name}`;
}

function toRecord({ _id, ...preset }: PresetDocument): PresetRecord {
  return currentPreset(preset);
}

/** Presets in collection `presets`. */
export function createMongoPresetStore(db: Db): PresetStore {
  const presets = db.collection<PresetDocument>('presets');
  return withMongoErrors<PresetStore>({
    async list(type) {
      const filter = type === undefined ? {} : { preset_type: type };
      return (
        await presets
          .find({ ...filter, ...PRESENT })
          .sort({ _id: 1 })
          .toArray()
      ).map(toRecord);
    },
    async get<Type extends PresetType>(type: Type, name: string) {
      const document = await presets.findOne({ _id: presetId(type, name), ...PRESENT });
      return document && (toRecord(document) as Extract<PresetRecord, { preset_type: Type }>);
    },
    async create(preset) {
      const _id = presetId(preset.preset_type, preset.name);
      try {
        // Matches what a removed one left behind, or nothing.
        await presets.replaceOne({ _id, removed: true }, preset, { upsert: true });
        return preset;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const { renamed_from: from } = preset;
        const begun = from === undefined ? null : await presets.findOne({ _id, renamed_from: from });
        if (begun === null) throw new AppError('PRESET_EXISTS');
        return toRecord(begun);
      }
    },
    async replace(before, after) {
      const _id = presetId(before.preset_type, before.name);
      const { updated_at } = before;
      const guard = { _id, updated_at, ...PRESENT };
      return (await presets.replaceOne(guard, after)).matchedCount === 1;
    },
    async remove(type, name) {
      const { matchedCount } = await presets.updateOne(
        { _id: presetId(type, name), ...PRESENT },
        { $set: { removed: true, seeded: false } },
      );
      return matchedCount === 1;
    },
    async seed({ name, preset_type, config }) {
      const now = new Date();
      try {
        // Matches a seeded one, or nothing; then it inserts, which an edited one of that id refuses.
        await presets.updateOne(
          { _id: presetId(preset_type, name), seeded: true },
          {
            $set: { name, preset_type, config } as Partial<PresetDocument>,
            $setOnInsert: { created_at: now, updated_at: now },
          },
          { upsert: true },
        );
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    },
  });
}
