import type { Db } from 'mongodb';
import type { SavedRuleSet } from '../../../../schemas/signals/saved-rules.js';
import type { SavedRuleStore } from '../../../ports/saved-rules.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

interface RuleSetDocument {
  /** The version: of two that are saved at once one finds it taken. */
  _id: number;
  saved_at: Date;
  saved_by: string;
  note: string | null;
  count: number;
  texts: string[];
}

function toSet({ _id, saved_at, saved_by, note, texts }: RuleSetDocument): SavedRuleSet {
  return { version: _id, savedAt: saved_at, savedBy: saved_by, note, texts };
}

/** The versions of the saved rules in collection `rule_sets`. */
export function createMongoSavedRuleStore(db: Db): SavedRuleStore {
  const sets = db.collection<RuleSetDocument>('rule_sets');
  const newest = { sort: { _id: -1 } } as const;
  const head = () => sets.findOne({}, { ...newest, projection: { saved_at: 1 } });

  return withMongoErrors<SavedRuleStore>({
    async newest() {
      const found = await head();
      return found && { version: found._id, savedAt: found.saved_at };
    },
    async get(wanted) {
      const found = await sets.findOne(wanted === undefined ? {} : { _id: wanted }, newest);
      return found && toSet(found);
    },
    async list(limit) {
      const found = await sets
        .find({}, { projection: { texts: 0 } })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id, saved_at, saved_by, note, count }) => ({
        version: _id,
        savedAt: saved_at,
        savedBy: saved_by,
        note,
        rules: count,
      }));
    },
    async save({ texts, savedBy, note, savedAt }, { after, keep }) {
      if (((await head())?._id ?? 0) !== after) return null;
      const document: RuleSetDocument = {
        _id: after + 1,
        saved_at: savedAt,
        saved_by: savedBy,
        note,
        count: texts.length,
        texts,
      };
      try {
        await sets.insertOne(document);
      } catch (error) {
        if (isDuplicateKey(error)) return null;
        throw error;
      }
      await sets.deleteMany({ _id: { $lte: document._id - keep } });
      return toSet(document);
    },
  });
}
