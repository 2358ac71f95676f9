import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import type { Config } from '../../schemas/config/config.js';
import type { ImportRun, RefusedFile } from '../../schemas/imports/imports.js';
import type { WorkerDocumentAdapters } from '../ports/adapters.js';
import type { WorkflowStarter } from '../ports/tasks.js';
import type { Warnings } from '../temporal/ask-temporal.js';
import { importSlice } from './import-slice.js';
import type { ImportPosition } from './import-slice.js';

export interface ImportActivityDeps {
  adapters: WorkerDocumentAdapters;
  config: Pick<Config, 'callbacks' | 'documents' | 'parsing' | 'http'>;
  log: Warnings;
  /** A slice ends so long after its first file or partition; 20 s unless a test says otherwise. */
  sliceMs?: number;
  /** A file that the source fails at is left out no sooner than this; a minute unless a test says otherwise. */
  failingMs?: number;
}

export interface ImportSliceInput {
  runId: string;
  sourceId: string;
  dryRun: boolean;
  requestsPerSecond: number;
  startedBy: string;
  position: ImportPosition | null;
}

export interface ImportSliceAnswer {
  position: ImportPosition;
  /** Files were admitted, and wait for their turn. */
  admitted: boolean;
}

const SLICE_MS = 20_000;
/** A file that the source fails at so often, for so long, is left out where it answers all else. */
const FAILING_TRIES = 4;
/** Longer than a replica or a disk of the source needs to come back, as a rule. */
const FAILING_MS = 60_000;

/** What the plan does for uploads that the gateway would ask of Temporal; the sweep does the rest. */
function leftToOthers(admitted: () => void): WorkflowStarter {
  const leave = (): Promise<void> => Promise.reject(new Error('an import asks nothing of Temporal'));
  return {
    startIndexing: leave,
    cancelIndexing: leave,
    startCleaning: leave,
    startSettling: leave,
    startCleaningPartition: leave,
    ping: leave,
    notifyDispatcher: async () => admitted(),
  };
}

/** Activities of the workflow that imports from another service. */
export function createImportActivities({
  adapters,
  config,
  log,
  sliceMs = SLICE_MS,
  failingMs = FAILING_MS,
}: ImportActivityDeps) {
  const { imports, importSources } = adapters;

  const beginImport = ({
    runId,
    sourceId,
    dryRun,
    startedBy,
  }: Omit<ImportSliceInput, 'position' | 'requestsPerSecond'>): Promise<void> =>
    imports.insertRun({ run_id: runId, source_id: sourceId, dry_run: dryRun, started_by: startedBy });

  const principalOf = async (startedBy: string) => {
    const user = await adapters.users.get(Number(startedBy));
    if (user === null || !user.is_admin)
      throw new AppError('AUTH_ERROR', 'Who started the import is no administrator (any more).');
    return { userId: user.user_id, displayName: user.display_name ?? '', isAdmin: true };
  };

  /** Some seconds of an import. A repeated attempt goes on behind the last file. */
  const runImportSlice = async (input: ImportSliceInput): Promise<ImportSliceAnswer> => {
    const context = Context.current();
    const signal = context.cancellationSignal;
    const { runId, sourceId, dryRun, requestsPerSecond } = input;
    const source = await imports.getSource(sourceId);
    const token = await imports.openToken(sourceId);
    if (source === null || token === null) throw new AppError('NOT_FOUND', `There is no source ${sourceId}.`);
    const service = importSources.open({ url: source.url, token }, { requestsPerSecond, signal });
    const principal = await principalOf(input.startedBy);
    // From the first question on: a list may take longer than all of it, and would be asked for again.
    let endsAt: number | null = null;
    let admitted = false;
    const report = (
      { phase, done, total, figures }: ImportPosition,
      refused: readonly RefusedFile[] = [],
    ): Promise<void> => imports.report(runId, { phase, done, total, figures, refused });
    const beaten = context.info.heartbeatDetails as ImportPosition | undefined;
    const deps = {
      adapters,
      imports,
      // All of them wait for their turn, so that those who upload meanwhile are not kept waiting.
      config: { ...config, documents: { ...config.documents, maxRunningTasksPerUser: 0 } },
      maxBytes: config.http.maxUploadBytes,
      workflows: leftToOthers(() => {
        admitted = true;
      }),
      log,
    };
    let last: ImportPosition | null = null;
    const position = await importSlice(
      deps,
      { sourceId, dryRun, principal },
      service,
      beaten ?? input.position,
      {
        signal,
        isGivenUp: ({ tries, since }) => tries >= FAILING_TRIES && Date.now() - since >= failingMs,
        isOver: () => Date.now() >= (endsAt ??= Date.now() + sliceMs),
        reached: (reached) => context.heartbeat((last = reached)),
        refused: (file, reached) => report(reached, [file]),
      },
    ).catch(async (error: unknown) => {
      // How far it came is shown while the source is waited for.
      if (last !== null) await report(last).catch(() => undefined);
      throw error;
    });
    await report(position);
    // An attempt that broke off may have admitted some.
    return { position, admitted: admitted || beaten !== undefined };
  };

  const pauseImport = ({ runId, paused }: { runId: string; paused: boolean }): Promise<void> =>
    imports.setPaused(runId, paused);

  const endImport = ({
    runId,
    state,
    error,
  }: Pick<ImportRun, 'state' | 'error'> & { runId: string }): Promise<void> =>
    imports.finish(runId, { state, error });

  return { beginImport, runImportSlice, pauseImport, endImport };
}

export type ImportActivities = ReturnType<typeof createImportActivities>;
