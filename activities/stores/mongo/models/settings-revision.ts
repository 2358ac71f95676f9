import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { withMongoErrors } from '../mongo-errors.js';

/** Tells every process whether model endpoints, presets, prompts or their defaults were changed since it last asked. */
export interface SettingsRevision {
  /** Null before the first change. */
  read(): Promise<string | null>;
  /** Another revision from now on. */
  change(): Promise<void>;
}

interface RevisionDocument {
  _id: 'model_settings_revision';
  /** Never one that was there before, also after a backup was restored: a number could be. */
  revision: string;
}

/** One document in collection `settings`. */
export function createMongoSettingsRevision(db: Db): SettingsRevision {
  const settings = db.collection<RevisionDocument>('settings');
  const _id = 'model_settings_revision' as const;
  return withMongoErrors<SettingsRevision>({
    async read() {
      return (await settings.findOne({ _id }))?.revision ?? null;
    },
    async change() {
      await settings.updateOne({ _id }, { $set: { revision: randomUUID() } }, { upsert: true });
    },
  });
}
