import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createImportActivities } from '../../activities/imports/import-activities.js';
import type { ImportPosition } from '../../activities/imports/import-slice.js';
import { createImportSources } from '../../activities/outbound/import-sources.js';
import type { ImportRun } from '../../schemas/imports/imports.js';
import { parseConfig } from '../../schemas/config/config.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { activityBench, inActivity } from './activity-bench.js';
import { endServer, listenOnLoopback } from './loopback-server.js';

/** What a source answers to a path: a status alone, or a body. */
export type SourceAnswer = number | object | string;

const SOURCE_ID = 'old';
const RUN_ID = 'run-1';

/** A source with one partition; what one file says is its id. Each answer can be replaced. */
function answersOf(fileIds: readonly string[]): Map<string, SourceAnswer> {
  const answers = new Map<string, SourceAnswer>([
    ['/users/', { users: [] }],
    ['/partition/', { partitions: [{ partition: 'shelf', document_count: fileIds.length }] }],
    ['/partition/shelf/users', { members: [] }],
    ['/partition/shelf/workspaces', { workspaces: [] }],
    [
      '/partition/shelf',
      { files: fileIds.map((id) => ({ file_id: id, filename: `${id}.txt`, content_sha256: sha256Hex(id) })) },
    ],
  ]);
  for (const id of fileIds) {
    answers.set(`/partition/shelf/file/${id}?limit=1`, {
      documents: [{ link: `http://x/extract/of-${id}` }],
    });
    answers.set(`/static/of-${id}`, id);
  }
  return answers;
}

/** As a source answers for a list of files; a service that knows no `after` passes over it. */
function part(answer: SourceAnswer, query: URLSearchParams, knowsAfter: boolean): SourceAnswer {
  if (typeof answer !== 'object' || !('files' in answer)) return answer;
  const limit = query.get('limit');
  const after = knowsAfter ? query.get('after') : null;
  const files = (answer.files as { file_id: string }[]).filter(
    ({ file_id }) => after === null || Buffer.compare(Buffer.from(file_id), Buffer.from(after)) > 0,
  );
  return { files: files.slice(0, limit === null ? undefined : Number(limit)) };
}

/** The activities of imports over fakes, with a source that listens. */
export async function importBench(
  fileIds: readonly string[],
  { sliceMs = 60_000, failingMs = 60_000, knowsAfter = true, dryRun = false } = {},
) {
  const asked: string[] = [];
  const answers = answersOf(fileIds);
  const told = new Map<string, () => void>();
  const server: Server = createServer((request, response) => {
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://x');
    const path = answers.has(pathname + search) || told.has(pathname + search) ? pathname + search : pathname;
    asked.push(pathname + search);
    told.get(path)?.();
    const answer = part(answers.get(path) ?? 404, searchParams, knowsAfter);
    if (typeof answer === 'number') response.writeHead(answer).end();
    else response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  const { url } = await listenOnLoopback(server);
  const importSources = createImportSources({ allowPrivateAddresses: true });
  const adapters = await activityBench();
  await adapters.users.ensureAdmin(null);
  await adapters.imports.putSource({ source_id: SOURCE_ID, url, token: 'or-source' });
  const activities = createImportActivities({
    adapters: { ...adapters, importSources } as never,
    config: parseConfig({}),
    log: { warn: () => undefined },
    sliceMs,
    failingMs,
  });
  const order = { runId: RUN_ID, sourceId: SOURCE_ID, dryRun, startedBy: '1' };
  await activities.beginImport(order);

  const slice = (position: ImportPosition | null, info: Parameters<typeof inActivity>[1] = {}) =>
    inActivity(
      async () =>
        (await activities.runImportSlice({ ...order, requestsPerSecond: 10_000, position })).position,
      info,
    );

  return {
    adapters,
    answers,
    /** Paths with their queries, in order. */
    asked,
    /** Does something as soon as a path is asked for. */
    onAsked: (path: string, act: () => void) => void told.set(path, act),
    slice,
    /** Slices until the import is done, at most so many; no attempt is repeated. */
    async run(most = 10): Promise<ImportPosition> {
      let position: ImportPosition | null = null;
      for (let at = 0; at < most && position?.phase !== 'done'; at += 1)
        position = await slice(position).result;
      return position!;
    },
    async record(): Promise<ImportRun> {
      return (await adapters.imports.getRun(RUN_ID))!;
    },
    /** Ids of the files that were taken. */
    async taken(): Promise<string[]> {
      const present = await Promise.all(fileIds.map((id) => adapters.files.get('shelf', id)));
      return present.flatMap((file) => file?.file_id ?? []);
    },
    async close(): Promise<void> {
      await importSources.close();
      await endServer(server);
    },
  };
}

export type ImportBench = Awaited<ReturnType<typeof importBench>>;
