import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectAgent } from '../support/agent.js';
import type { Agent } from '../support/agent.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { indexText, publishTask } from '../support/uploads.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

/** What somebody has, or nobody. */
interface Belongings {
  partition: string;
  fileId: string;
  chunkId: string;
  taskId: string;
}

const SECRET = 'zanzibar';
let gateway: Gateway;
let ada: Agent;
let adaToken: string;
let viewer: Agent;
let site: Server;
let siteUrl: string;
let own: Belongings;
let foreign: Belongings;
const missing: Belongings = { partition: 'nowhere', fileId: 'nothing', chunkId: 'none', taskId: 'none' };

async function settle(name: string, token: string, text: string): Promise<Belongings> {
  const named = { partition: `${name}-docs`, fileId: `${name}-file` };
  const [chunkId = ''] = await indexText(gateway, { ...named, token }, [text]);
  const { live } = (await gateway.adapters.files.get(named.partition, named.fileId))!;
  return { ...named, chunkId, taskId: live!.task_id };
}

beforeAll(async () => {
  gateway = await startGateway({
    env: { INDEX_URL_ALLOW_PRIVATE_URLS: 'true', CONTENT_DEDUPLICATION_ENABLED: 'false' },
  });
  const bobToken = gateway.addUser('bob').token;
  adaToken = gateway.addUser('ada').token;
  own = await settle('ada', adaToken, 'Ada writes about mills.');
  foreign = await settle('bob', bobToken, `The treasure lies in ${SECRET}.`);
  const reader = gateway.addUser('reader');
  gateway.addMember(reader.userId, own.partition, 'viewer');
  gateway.workflows.starter.startIndexing = async (task) => {
    await publishTask(gateway, task.task_id, ['copied']);
  };
  site = createServer((_request, response) => response.setHeader('content-type', 'text/plain').end('a page'));
  const { url } = await listenOnLoopback(site);
  siteUrl = `${url}/page.txt`;
  [ada, viewer] = [await connectAgent(gateway, adaToken), await connectAgent(gateway, reader.token)];
});
afterAll(async () => {
  await Promise.all([ada?.close(), viewer?.close()]);
  await endServer(site);
  await gateway?.close();
});

interface Row {
  tool: string;
  args(of: Belongings): Record<string, unknown>;
  /** Statuses of a refusal; `null`: the tool names nothing, and answers without what is foreign. */
  foreign: number | null;
  missing: number | null;
  /** Whether a viewer may. */
  viewer: boolean;
}

function inPartition({ partition }: Belongings) {
  return { partition };
}

function ofFile({ partition, fileId }: Belongings) {
  return { partition, file_id: fileId };
}

/** In this order: what deletes comes last. */
const MATRIX: Row[] = [
  {
    tool: 'search_documents',
    foreign: 403,
    missing: 403,
    viewer: true,
    args: ({ partition }) => ({ query: SECRET, partitions: [partition] }),
  },
  {
    tool: 'search_partition',
    foreign: 403,
    missing: 404,
    viewer: true,
    args: (of) => ({ ...inPartition(of), query: SECRET }),
  },
  {
    tool: 'search_file',
    foreign: 403,
    missing: 404,
    viewer: true,
    args: (of) => ({ ...ofFile(of), query: SECRET }),
  },
  { tool: 'list_partitions', foreign: null, missing: null, viewer: true, args: () => ({}) },
  { tool: 'list_files', foreign: 403, missing: 404, viewer: true, args: inPartition },
  { tool: 'get_file_info', foreign: 403, missing: 404, viewer: true, args: ofFile },
  { tool: 'get_file_chunks', foreign: 403, missing: 404, viewer: true, args: ofFile },
  {
    tool: 'fuzzy_search_files',
    foreign: null,
    missing: null,
    viewer: true,
    args: ({ fileId }) => ({ query: fileId, cutoff: 0 }),
  },
  {
    tool: 'get_chunk_by_id',
    foreign: 403,
    missing: 404,
    viewer: true,
    args: ({ chunkId }) => ({ chunk_id: chunkId }),
  },
  {
    // A member sees no tasks of others, whatever the role.
    tool: 'get_indexation_task_status',
    foreign: 403,
    missing: 404,
    viewer: false,
    args: ({ taskId }) => ({ task_id: taskId }),
  },
  { tool: 'list_my_tasks', foreign: null, missing: null, viewer: true, args: () => ({}) },
  {
    tool: 'update_file_metadata',
    foreign: 403,
    missing: 404,
    viewer: false,
    args: (of) => ({ ...ofFile(of), metadata: { seen: true } }),
  },
  {
    tool: 'copy_file',
    foreign: 403,
    missing: 404,
    viewer: false,
    args: (of) => ({
      partition: of.partition,
      file_id: 'copy',
      source_partition: of.partition,
      source_file_id: of.fileId,
    }),
  },
  {
    // A missing partition is created, as by an upload.
    tool: 'index_url',
    foreign: 403,
    missing: null,
    viewer: false,
    args: ({ partition }) => ({ partition, file_id: 'page', url: siteUrl }),
  },
  { tool: 'delete_file', foreign: 403, missing: 404, viewer: false, args: ofFile },
];

/** Its name, its text, its file: whatever would tell that there is another tenant, but for what was asked itself. */
function tells(text: string): string[] {
  return [SECRET, foreign.chunkId, foreign.taskId, 'treasure', '"bob'].filter((word) => text.includes(word));
}

/** What was asked may stand in the answer. */
function withoutAsked(text: string, asked: Record<string, unknown>): string {
  return Object.values(asked)
    .flat()
    .filter((value) => typeof value === 'string')
    .reduce<string>((rest, value) => rest.replaceAll(value, ''), text);
}

describe('every tool', () => {
  it('is in the matrix', () => {
    expect(MATRIX.map(({ tool }) => tool).sort()).toEqual(ada.tools.map(({ name }) => name).sort());
  });

  it.each(MATRIX)('$tool refuses what is foreign', async ({ tool, args, foreign: status }) => {
    const { error, body, text } = await ada.call(tool, args(foreign));
    expect([error, body.status]).toEqual(status === null ? [false, undefined] : [true, status]);
    expect(tells(withoutAsked(text, args(foreign)))).toEqual([]);
    // Nothing was done to it either.
    expect(await gateway.adapters.files.get(foreign.partition, foreign.fileId)).toMatchObject({
      live: { metadata: {} },
    });
    expect(await gateway.adapters.files.get(foreign.partition, 'page')).toBeNull();
    expect(await gateway.adapters.files.get(foreign.partition, 'copy')).toBeNull();
  });

  it.each(MATRIX)('$tool says what is missing', async ({ tool, args, missing: status }) => {
    const { error, body, text } = await ada.call(tool, args(missing));
    expect([error, body.status]).toEqual(status === null ? [false, undefined] : [true, status]);
    expect(tells(withoutAsked(text, args(missing)))).toEqual([]);
  });

  it.each(MATRIX)('$tool asks a member for its role', async ({ tool, args, viewer: may }) => {
    const { error, body } = await viewer.call(tool, args(own));
    expect([tool, error, body.status]).toEqual([tool, !may, may ? undefined : 403]);
  });

  it.each(MATRIX)('$tool answers for what is the caller’s own', async ({ tool, args }) => {
    const { error, body } = await ada.call(tool, args(own));
    expect([error, body]).toEqual([false, expect.anything()]);
  });
});

describe('between tenants', () => {
  it('nothing is copied, moved or found', async () => {
    const here = await settle('spare', adaToken, 'Another text of hers.');
    const copy = (from: Belongings, to: Belongings) =>
      ada.call('copy_file', {
        partition: to.partition,
        file_id: 'stolen',
        source_partition: from.partition,
        source_file_id: from.fileId,
      });
    expect((await copy(foreign, here)).body).toMatchObject({ status: 403 });
    expect((await copy(here, foreign)).body).toMatchObject({ status: 403 });
    const moved = await ada.call('update_file_metadata', {
      ...ofFile(here),
      metadata: { partition: foreign.partition },
    });
    expect(moved.body).toMatchObject({ status: 403 });
    const everywhere = await ada.call('search_documents', { query: `treasure in ${SECRET}`, top_k: 50 });
    expect(everywhere.body.partitions).not.toContain(foreign.partition);
    expect(tells(everywhere.text.replace(/"query":"[^"]*"/, ''))).toEqual([]);
  });

  it('no resource, prompt or completion tells of the other', async () => {
    const { client } = ada;
    for (const uri of [
      `tamis://partition/${foreign.partition}/file/${foreign.fileId}`,
      `tamis://chunk/${foreign.chunkId}`,
    ])
      await expect(client.readResource({ uri })).rejects.toThrow(
        `Access to partition '${foreign.partition}' forbidden`,
      );
    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(0);
    expect(tells(JSON.stringify(resources))).toEqual([]);
    const cursor = Buffer.from(JSON.stringify([foreign.partition, 0])).toString('base64url');
    expect(tells(JSON.stringify(await client.listResources({ cursor })))).toEqual([]);
    const args = { partition: foreign.partition, question: 'x' };
    await expect(client.getPrompt({ name: 'answer_from_partition', arguments: args })).rejects.toThrow(
      'forbidden',
    );
    const ref = { type: 'ref/prompt' as const, name: 'answer_from_partition' };
    const { completion } = await client.complete({ ref, argument: { name: 'partition', value: 'bob' } });
    expect(completion.values).toEqual([]);
  });
});
