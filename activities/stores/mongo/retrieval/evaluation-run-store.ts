import type { Db } from 'mongodb';
import type { EvaluationRunRecord, QuestionResult } from '../../../../schemas/retrieval/evaluation.js';
import { begunNow, endedNow } from '../../../../schemas/run-record.js';
import type { EvaluationRunStore } from '../../../ports/evaluation.js';
import { withMongoErrors } from '../mongo-errors.js';

type RunDocument = Omit<EvaluationRunRecord, 'run_id'> & { _id: string };
type ResultDocument = QuestionResult & { _id: string; run_id: string; partition_key: string };

function fromDocument({ _id, ...rest }: RunDocument): EvaluationRunRecord {
  return { run_id: _id, ...rest };
}

function resultOf({ _id, run_id: _run, partition_key: _key, ...result }: ResultDocument): QuestionResult {
  return result;
}

/** Runs in collection `evaluation_runs`, what came of each question in `evaluation_results`. */
export function createMongoEvaluationRunStore(db: Db): EvaluationRunStore {
  const runs = db.collection<RunDocument>('evaluation_runs');
  const results = db.collection<ResultDocument>('evaluation_results');
  return withMongoErrors<EvaluationRunStore>({
    async insert({ run_id, ...given }) {
      await runs.updateOne(
        { _id: run_id },
        {
          $setOnInsert: {
            ...given,
            status: 'running',
            questions_done: 0,
            summary: null,
            ...begunNow(),
          },
        },
        { upsert: true },
      );
    },
    async get(runId) {
      const found = await runs.findOne({ _id: runId });
      return found && fromDocument(found);
    },
    async list(partitionKey, limit) {
      const found = await runs
        .find({ partition_key: partitionKey })
        .sort({ started_at: -1 })
        .limit(limit)
        .toArray();
      return found.map(fromDocument);
    },
    async record(runId, given) {
      const run = await runs.findOne({ _id: runId, status: 'running' });
      if (run === null) return;
      for (const result of given)
        await results.updateOne(
          { _id: `${runId}/${result.index}` },
          { $setOnInsert: { ...result, run_id: runId, partition_key: run.partition_key } },
          { upsert: true },
        );
      const questions_done = await results.countDocuments({ run_id: runId });
      await runs.updateOne(
        { _id: runId, status: 'running' },
        { $set: { updated_at: new Date() }, $max: { questions_done } },
      );
    },
    async results(runId, from, limit) {
      const found = await results
        .find({ run_id: runId, index: { $gte: from, $lt: from + limit } })
        .sort({ index: 1 })
        .toArray();
      return found.map(resultOf);
    },
    async finish(runId, end) {
      await runs.updateOne({ _id: runId, status: 'running' }, { $set: { ...end, ...endedNow() } });
    },
    async remove(runId) {
      const { deletedCount } = await runs.deleteOne({ _id: runId });
      await results.deleteMany({ run_id: runId });
      return deletedCount > 0;
    },
    async removeAll(partitionKey) {
      await runs.deleteMany({ partition_key: partitionKey });
      await results.deleteMany({ partition_key: partitionKey });
    },
  });
}
