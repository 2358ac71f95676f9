import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { PromptRecord } from '../../../../schemas/models/presets.js';
import { PROMPT_TYPES } from '../../../../schemas/models/prompts.js';
import type { PromptType } from '../../../../schemas/models/prompts.js';
import type { PromptStore } from '../../../ports/model-administration.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

interface PromptDocument extends Omit<PromptRecord, 'id'> {
  _id: string;
  /** Named so before it was last renamed: what still names it so finds it. */
  former_name?: string;
  /** A bundled text that was never edited. */
  seeded?: true;
}

/** One document for all types: the rule "one default per type" spans records, so it lives in a single one. */
type DefaultsDocument = { _id: 'prompt_defaults' } & Partial<Record<PromptType, string>> & {
    /** Types whose bundled text was put down once; from then on what is there is an administrator's doing. */
    seeded?: Partial<Record<PromptType, boolean>>;
  };

const SEEDED_NAME = 'default';

function seededId(type: PromptType): string {
  return `bundled-${type.replaceAll('_', '-')}`;
}

function toRecord({ _id, former_name: _f, seeded: _s, ...prompt }: PromptDocument): PromptRecord {
  return {
    ...prompt,
    id: _id,
  };
}

/** Prompts in collection `prompts`, the defaults in `settings`. */
export function createMongoPromptStore(db: Db): PromptStore {
  const prompts = db.collection<PromptDocument>('prompts');
  const settings = db.collection<DefaultsDocument>('settings');

  const refusingTwins = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      return await write();
    } catch (error) {
      if (isDuplicateKey(error)) throw new AppError('PROMPT_EXISTS', undefined, { cause: error });
      throw error;
    }
  };

  const setDefaultIf = async (guard: object, change: object): Promise<void> => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      try {
        await settings.updateOne({ _id: 'prompt_defaults', ...guard }, change, { upsert: true });
        return;
      } catch (error) {
        // Inserted by another process in this moment: the second try finds it, or finds that the guard holds no more.
        if (!isDuplicateKey(error)) throw error;
      }
    }
  };

  /** Each type by itself, so that a type that a later release bundles is seeded then. */
  const seedOne = async (type: PromptType, content: string): Promise<void> => {
    const now = new Date();
    const _id = seededId(type);
    const done = await settings.findOne({ _id: 'prompt_defaults', [`seeded.${type}`]: true });
    if (done === null) {
      const document = { prompt_type: type, name: SEEDED_NAME, content, seeded: true as const };
      try {
        await prompts.insertOne({ ...document, _id, created_at: now, updated_at: now });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      await setDefaultIf({ [type]: null }, { $set: { [type]: _id } });
      await settings.updateOne({ _id: 'prompt_defaults' }, { $set: { [`seeded.${type}`]: true } });
    } else
      await prompts.updateOne(
        { _id, seeded: true, content: { $ne: content } },
        { $set: { content, updated_at: now } },
      );
  };

  return withMongoErrors<PromptStore>({
    async list({ type, offset = 0, limit = 0 } = {}) {
      const found = prompts.find(type === undefined ? {} : { prompt_type: type });
      const page = found.sort({ prompt_type: 1, name: 1 }).skip(offset).limit(limit);
      return (await page.toArray()).map(toRecord);
    },
    async get(id) {
      const document = await prompts.findOne({ _id: id });
      return document && toRecord(document);
    },
    async find(type, name) {
      const document =
        (await prompts.findOne({ prompt_type: type, name })) ??
        (await prompts.findOne({ prompt_type: type, former_name: name }));
      return document && toRecord(document);
    },
    async create(prompt) {
      const now = new Date();
      const document: PromptDocument = { ...prompt, _id: randomUUID(), created_at: now, updated_at: now };
      await refusingTwins(() => prompts.insertOne(document));
      return toRecord(document);
    },
    async update(id, patch) {
      const present = await prompts.findOne({ _id: id });
      if (present === null) return null;
      const renamed = patch.name !== undefined && patch.name !== present.name;
      const document = await refusingTwins(() =>
        prompts.findOneAndUpdate(
          { _id: id },
          {
            $set: { ...patch, updated_at: new Date(), ...(renamed && { former_name: present.name }) },
            $unset: { seeded: '' },
          },
          { returnDocument: 'after' },
        ),
      );
      return document && toRecord(document);
    },
    async remove(id) {
      return (await prompts.deleteOne({ _id: id })).deletedCount === 1;
    },
    async seed(texts) {
      for (const type of PROMPT_TYPES) {
        const content = texts[type];
        if (content !== undefined) await seedOne(type, content);
      }
    },
    async defaults() {
      const document = await settings.findOne({ _id: 'prompt_defaults' });
      const found: Partial<Record<PromptType, string>> = {};
      for (const type of PROMPT_TYPES) {
        const id = document?.[type];
        if (id != null) found[type] = id;
      }
      return found;
    },
    setDefault: (type, id) => setDefaultIf({}, { $set: { [type]: id } }),
  });
}
