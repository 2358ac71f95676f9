import type { Db } from 'mongodb';
import type { PresetRecord, PresetType } from '../../../schemas/documents.js';
import type { PresetStore } from '../../ports.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

type PresetDocument = PresetRecord & { _id: string };

const presetId = (type: PresetType, name: string): string => `${type}/${name}`;

const toRecord = ({ _id, ...preset }: PresetDocument): PresetRecord => preset;

/** Presets in collection `presets`. */
export const createMongoPresetStore = (db: Db): PresetStore => {
  const presets = db.collection<PresetDocument>('presets');
  return withMongoErrors<PresetStore>({
    async list(type) {
      const filter = type === undefined ? {} : { preset_type: type };
      return (await presets.find(filter).sort({ _id: 1 }).toArray()).map(toRecord);
    },
    async get<Type extends PresetType>(type: Type, name: string) {
      const document = await presets.findOne({ _id: presetId(type, name) });
      return document && (toRecord(document) as Extract<PresetRecord, { preset_type: Type }>);
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
};
