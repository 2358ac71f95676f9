import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { EvaluationQuestion, QuestionSetVersion } from '../../../../schemas/retrieval/evaluation.js';
import type { QuestionSetStore } from '../../../ports/evaluation.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

type VersionDocument = Omit<QuestionSetVersion, 'version_id'> & {
  _id: string;
  /** False until all its questions are stored. */
  ready: boolean;
};

type QuestionDocument = EvaluationQuestion & {
  version_id: string;
  partition_key: string;
  index: number;
};

const BATCH = 500;
/** An upload is stored within seconds: what is not ready after so long was broken off. */
const BROKEN_OFF_MS = 600_000;

function fromDocument({ _id, ready: _ready, ...rest }: VersionDocument): QuestionSetVersion {
  return { version_id: _id, ...rest };
}

/** An upload that was broken off holds its number, and nothing else. */
function isNewer(last: VersionDocument | null, after: number | null): boolean {
  if (last === null || last.version <= (after ?? 0)) return false;
  return last.ready || Date.now() - last.created_at.getTime() < BROKEN_OFF_MS;
}

function changed(name: string): AppError {
  return new AppError('CONFLICT', `The question set '${name}' was changed or deleted meanwhile.`);
}

/** Sets in collection `question_sets`, a document per version; their questions in `evaluation_questions`. */
export function createMongoQuestionSetStore(db: Db): QuestionSetStore {
  const sets = db.collection<VersionDocument>('question_sets');
  const questions = db.collection<QuestionDocument>('evaluation_questions');

  const insertVersion = async (
    given: Omit<VersionDocument, '_id' | 'version' | 'ready' | 'created_at'>,
    after: number | null | undefined,
  ): Promise<VersionDocument> => {
    const { partition_key, name } = given;
    for (;;) {
      const last = await sets.findOne({ partition_key, name }, { sort: { version: -1 } });
      if (after !== undefined && isNewer(last, after)) throw changed(name);
      const version: VersionDocument = {
        ...given,
        _id: randomUUID(),
        version: (last?.version ?? 0) + 1,
        ready: false,
        created_at: new Date(),
      };
      try {
        await sets.insertOne(version);
        return version;
      } catch (error) {
        // Another upload of this set has taken the number.
        if (!isDuplicateKey(error)) throw error;
      }
    }
  };

  const drop = async (versionIds: readonly string[]): Promise<void> => {
    if (versionIds.length === 0) return;
    // First the versions, so that none is seen without its questions.
    await sets.deleteMany({ _id: { $in: [...versionIds] } });
    await questions.deleteMany({ version_id: { $in: [...versionIds] } });
  };

  const dropOld = async (partition_key: string, name: string, keep: number): Promise<void> => {
    const all = await sets.find({ partition_key, name }).sort({ version: -1 }).toArray();
    const brokenOffBefore = Date.now() - BROKEN_OFF_MS;
    const brokenOff = all.filter(({ ready, created_at: at }) => !ready && at.getTime() < brokenOffBefore);
    const old = all.filter(({ ready }) => ready).slice(keep);
    await drop([...brokenOff, ...old].map(({ _id }) => _id));
  };

  return withMongoErrors<QuestionSetStore>({
    async add(set, given, keep, after) {
      const version = await insertVersion(
        {
          partition_key: set.partition_key,
          name: set.name,
          note: set.note,
          created_by: set.created_by,
          questions: given.length,
          not_answerable: given.filter((question) => question.not_answerable).length,
        },
        after,
      );
      const { _id: version_id, partition_key } = version;
      for (let from = 0; from < given.length; from += BATCH)
        await questions.insertMany(
          given
            .slice(from, from + BATCH)
            .map((question, place) => ({ ...question, version_id, partition_key, index: from + place })),
        );
      const { matchedCount } = await sets.updateOne({ _id: version_id }, { $set: { ready: true } });
      if (matchedCount === 0) {
        await drop([version_id]);
        throw changed(set.name);
      }
      await dropOld(partition_key, set.name, keep);
      return fromDocument({ ...version, ready: true });
    },
    async list(partitionKey) {
      const all = await sets
        .find({ partition_key: partitionKey, ready: true })
        .sort({ name: 1, version: -1 })
        .toArray();
      return all.filter(({ name }, index) => name !== all[index - 1]?.name).map(fromDocument);
    },
    async versions(partitionKey, name) {
      const all = await sets
        .find({ partition_key: partitionKey, name, ready: true })
        .sort({ version: -1 })
        .toArray();
      return all.map(fromDocument);
    },
    async get(partitionKey, name, version) {
      const found = await sets.findOne(
        { partition_key: partitionKey, name, ready: true, ...(version === null ? {} : { version }) },
        { sort: { version: -1 } },
      );
      return found && fromDocument(found);
    },
    async questions(versionId, from, limit) {
      const found = await questions
        .find({ version_id: versionId, index: { $gte: from, $lt: from + limit } })
        .sort({ index: 1 })
        .toArray();
      return found.map(({ id, question, relevant, expected_answer, not_answerable }) => ({
        id,
        question,
        relevant,
        expected_answer,
        not_answerable,
      }));
    },
    async remove(partitionKey, name) {
      const all = await sets.find({ partition_key: partitionKey, name }).toArray();
      await drop(all.map(({ _id }) => _id));
      return all.some(({ ready }) => ready);
    },
    async removeAll(partitionKey) {
      await sets.deleteMany({ partition_key: partitionKey });
      await questions.deleteMany({ partition_key: partitionKey });
    },
  });
}
