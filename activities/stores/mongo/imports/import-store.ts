import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { ImportRun, ImportSource, ImportState } from '../../../../schemas/imports/imports.js';
import { endedNow, newOperation } from '../../../../schemas/run-record.js';
import type { ImportStore } from '../../../ports/imports.js';
import { createEncryption } from '../encryption.js';
import { withMongoErrors } from '../mongo-errors.js';

type SourceDocument = Omit<ImportSource, 'source_id'> & { _id: string; sealed_token: string };
type RunDocument = Omit<ImportRun, 'run_id'> & { _id: string };

const OPEN: ImportState[] = ['running', 'paused'];

function fromSource({ _id, url, users }: SourceDocument): ImportSource {
  return { source_id: _id, url, users };
}

function fromRun({ _id, ...rest }: RunDocument): ImportRun {
  return { run_id: _id, ...rest };
}

/**
 * Sources in collection `import_sources`, runs in `import_runs`.
 * @param key the bytes of SECRETS_KEY, which tokens are sealed with; null when it is not set
 * @param former keys that open tokens as well
 */
export function createMongoImportStore(db: Db, key: Buffer | null, former: readonly Buffer[]): ImportStore {
  const sources = db.collection<SourceDocument>('import_sources');
  const runs = db.collection<RunDocument>('import_runs');
  const box = key === null ? null : createEncryption(key, former);
  return withMongoErrors<ImportStore>({
    async putSource({ source_id, url, token }) {
      if (box === null)
        throw new AppError(
          'SERVICE_UNAVAILABLE',
          'SECRETS_KEY is not set: the token of a source cannot be kept.',
        );
      await sources.updateOne(
        { _id: source_id },
        { $set: { url, sealed_token: box.seal(token, source_id) }, $setOnInsert: { users: {} } },
        { upsert: true },
      );
    },
    async getSource(sourceId) {
      const found = await sources.findOne({ _id: sourceId });
      return found === null ? null : fromSource(found);
    },
    async listSources() {
      return (await sources.find({}).sort({ _id: 1 }).toArray()).map(fromSource);
    },
    async openToken(sourceId) {
      const found = await sources.findOne({ _id: sourceId });
      if (found === null) return null;
      if (box === null)
        throw new AppError('CONFIG_ERROR', 'SECRETS_KEY is not set: the token of a source cannot be read.');
      return box.open(found.sealed_token, sourceId);
    },
    async mapUser(sourceId, theirs, ours) {
      await sources.updateOne({ _id: sourceId }, { $set: { [`users.${theirs}`]: ours } });
    },
    async insertRun({ run_id, ...given }) {
      await runs.updateOne(
        { _id: run_id },
        { $setOnInsert: { ...given, refused: [], ...newOperation() } },
        { upsert: true },
      );
    },
    async getRun(runId) {
      const found = await runs.findOne({ _id: runId });
      return found === null ? null : fromRun(found);
    },
    async listRuns(sourceId, limit) {
      const found = await runs.find({ source_id: sourceId }).sort({ started_at: -1 }).limit(limit).toArray();
      return found.map(fromRun);
    },
    async report(runId, { done, refused, ...rest }) {
      await runs.updateOne(
        { _id: runId, state: { $in: OPEN } },
        {
          $set: { ...rest, updated_at: new Date() },
          $max: { done },
          ...(refused.length === 0 ? {} : { $addToSet: { refused: { $each: [...refused] } } }),
        },
      );
    },
    async setPaused(runId, paused) {
      await runs.updateOne(
        { _id: runId, state: { $in: OPEN } },
        { $set: { state: paused ? 'paused' : 'running', updated_at: new Date() } },
      );
    },
    async finish(runId, { state, error }) {
      await runs.updateOne({ _id: runId, state: { $in: OPEN } }, { $set: { state, error, ...endedNow() } });
    },
  });
}
