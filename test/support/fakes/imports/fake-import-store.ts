import { isDeepStrictEqual } from 'node:util';
import type { ImportStore } from '../../../../activities/ports/imports.js';
import { isFinalImportState } from '../../../../schemas/imports/imports.js';
import type { ImportRun, ImportSource } from '../../../../schemas/imports/imports.js';
import { newOperation } from '../../../../schemas/run-record.js';
import { copyRecord } from '../copy-record.js';

/** Sources and runs in Maps, in the order in which they began; tokens are kept as they are. */
export function createFakeImportStore(): ImportStore {
  const sources = new Map<string, ImportSource & { token: string }>();
  const runs = new Map<string, ImportRun>();
  const change = (runId: string, fields: (run: ImportRun) => Partial<ImportRun>): void => {
    const run = runs.get(runId);
    if (run === undefined || isFinalImportState(run.state)) return;
    runs.set(runId, { ...run, ...copyRecord(fields(run)), updated_at: new Date() });
  };
  const toSource = ({ source_id, url, users }: ImportSource): ImportSource =>
    copyRecord({ source_id, url, users });
  return {
    async putSource(source) {
      sources.set(source.source_id, { users: sources.get(source.source_id)?.users ?? {}, ...source });
    },
    async getSource(sourceId) {
      const found = sources.get(sourceId);
      return found === undefined ? null : toSource(found);
    },
    listSources: async () =>
      [...sources.values()].map(toSource).sort((one, other) => (one.source_id < other.source_id ? -1 : 1)),
    openToken: async (sourceId) => sources.get(sourceId)?.token ?? null,
    async mapUser(sourceId, theirs, ours) {
      const found = sources.get(sourceId);
      if (found !== undefined) found.users[theirs] = ours;
    },
    async insertRun(given) {
      if (!runs.has(given.run_id)) runs.set(given.run_id, { ...given, refused: [], ...newOperation() });
    },
    getRun: async (runId) => copyRecord(runs.get(runId) ?? null),
    listRuns: async (sourceId, limit) =>
      copyRecord([...runs.values()].reverse().filter((run) => run.source_id === sourceId)).slice(0, limit),
    async report(runId, progress) {
      change(runId, (run) => ({
        ...progress,
        done: Math.max(run.done, progress.done),
        refused: [
          ...run.refused,
          ...progress.refused.filter((file) => !run.refused.some((known) => isDeepStrictEqual(known, file))),
        ],
      }));
    },
    async setPaused(runId, paused) {
      change(runId, () => ({ state: paused ? 'paused' : 'running' }));
    },
    async finish(runId, { state, error }) {
      change(runId, () => ({ state, error, finished_at: new Date() }));
    },
  };
}
