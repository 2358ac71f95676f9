import { randomUUID } from 'node:crypto';
import { isPublicUrl } from '../../activities/outbound/address-guard.js';
import { AppError } from '../../schemas/app-error.js';
import { isFinalImportState } from '../../schemas/imports/imports.js';
import {
  ImportList,
  ImportParams,
  ImportRuns,
  ImportStart,
  ImportStarted,
} from '../../schemas/imports/imports-api.js';
import { badRequest } from '../../schemas/request-issues.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { cancelRun } from '../http/cancel-run.js';
import { presentRun, progressEvents } from '../http/progress-events.js';
import { empty, followingStream, json, route } from '../http/route.js';
import type { Route } from '../http/route.js';

const TAG = 'Imports';
const RUNS_LISTED = 50;

function withoutTrailingSlashes(address: string): string {
  let end = address.length;
  while (end > 0 && address[end - 1] === '/') end -= 1;
  return address.slice(0, end);
}

/** Imports of what another service of the same contract holds, for administrators. */
export function importRoutes({ adapters, config, workflows }: GatewayDeps): Route[] {
  const { imports } = adapters;

  const latestOf = async (sourceId: string) => (await imports.listRuns(sourceId, 1))[0];

  const requireSource = async (sourceId: string): Promise<void> => {
    if ((await imports.getSource(sourceId)) === null)
      throw new AppError('NOT_FOUND', `Nothing was imported from ${sourceId} yet: give its url and token.`);
  };

  /** Both together: a kept token is never sent to an address that came later. */
  const keepSource = async (
    source_id: string,
    { url, token }: { url?: string | undefined; token?: string | undefined },
  ): Promise<void> => {
    if (url === undefined && token === undefined) return requireSource(source_id);
    const address = url ?? (await imports.getSource(source_id))?.url;
    if (address === undefined || token === undefined)
      throw badRequest(
        'url and token are needed together; a new token alone will do for a source that is known',
      );
    const parsed = new URL(address);
    if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '')
      throw badRequest('url must be an address without a user name, query and fragment');
    if (!config.imports.allowPrivateAddresses && !isPublicUrl(parsed))
      throw badRequest('url is a private address; IMPORT_ALLOW_PRIVATE_URLS lets it be asked');
    // A run at work would go on with the new one half way.
    const latest = await latestOf(source_id);
    if (latest !== undefined && !isFinalImportState(latest.state)) throw new AppError('IMPORT_RUNNING');
    await imports.putSource({ source_id, url: withoutTrailingSlashes(parsed.href), token });
  };

  const cancel = (sourceId: string): Promise<void> =>
    cancelRun({
      open: async () =>
        (await imports.listRuns(sourceId, RUNS_LISTED)).filter(({ state }) => !isFinalImportState(state)),
      cancel: () => workflows.cancelImport(sourceId),
      notRunning: 'IMPORT_NOT_RUNNING',
      async end(open) {
        for (const { run_id } of open) await imports.finish(run_id, { state: 'cancelled', error: null });
      },
    });

  const steer = (
    word: 'pause' | 'resume' | 'cancel',
    summary: string,
    ask: (sourceId: string) => Promise<void>,
  ): Route =>
    route({
      method: 'post',
      path: `/admin/imports/{source_id}/${word}`,
      summary,
      tag: TAG,
      auth: 'admin',
      request: { params: ImportParams },
      responses: { 202: { description: 'Asked for' } },
      errors: ['IMPORT_NOT_RUNNING', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { params }) {
        await ask(params.source_id);
        return empty(202);
      },
    });

  return [
    route({
      method: 'get',
      path: '/admin/imports',
      summary: 'The services that were imported from, each with its latest run',
      tag: TAG,
      auth: 'admin',
      responses: { 200: { description: 'Sources by name', schema: ImportList } },
      async handle() {
        const sources = [];
        for (const { source_id, url } of await imports.listSources()) {
          const latest = await latestOf(source_id);
          sources.push({ source_id, url, latest: latest === undefined ? null : presentRun(latest) });
        }
        return json(200, { sources });
      },
    }),
    route({
      method: 'post',
      path: '/admin/imports/{source_id}',
      summary:
        'Take over users, partitions, files and workspaces of another service of this contract; what is here already ' +
        'stays as it is. One run of each source at a time',
      tag: TAG,
      auth: 'admin',
      request: { params: ImportParams, body: ImportStart, bodyOptional: true },
      responses: { 202: { description: 'Started', schema: ImportStarted } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'IMPORT_RUNNING', 'SERVICE_UNAVAILABLE', 'VALIDATION_ERROR'],
      async handle({ principal }, { params: { source_id: sourceId }, body }) {
        await keepSource(sourceId, body);
        const runId = randomUUID();
        await workflows.startImport({
          runId,
          sourceId,
          dryRun: body.dry_run,
          requestsPerSecond: body.requests_per_second,
          startedBy: String(principal.userId),
        });
        return json(202, { run_id: runId });
      },
    }),
    route({
      method: 'get',
      path: '/admin/imports/{source_id}/runs',
      summary: 'The last runs of a source, the newest first',
      tag: TAG,
      auth: 'admin',
      request: { params: ImportParams },
      responses: { 200: { description: 'Runs', schema: ImportRuns } },
      async handle(_ctx, { params }) {
        const runs = await imports.listRuns(params.source_id, RUNS_LISTED);
        return json(200, { runs: runs.map(presentRun) });
      },
    }),
    route({
      method: 'get',
      path: '/admin/imports/{source_id}/events',
      summary: 'Progress of the latest run until it ends, as server-sent events',
      tag: TAG,
      auth: 'admin',
      request: { params: ImportParams },
      responses: { 200: { description: 'Each event is an ImportRun', contentType: 'text/event-stream' } },
      errors: ['NOT_FOUND'],
      async handle(ctx, { params }) {
        const latest = () => latestOf(params.source_id);
        if ((await latest()) === undefined)
          throw new AppError('NOT_FOUND', 'No import of this source ran yet.');
        return followingStream(progressEvents(latest, ({ state }) => isFinalImportState(state), ctx));
      },
    }),
    steer('pause', 'Pause the run after its present slice', (id) => workflows.pauseImport(id)),
    steer('resume', 'Let a paused run go on', (id) => workflows.resumeImport(id)),
    steer('cancel', 'Give the run up; what was taken stays, and a later run goes on behind it', cancel),
  ];
}
