import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { ask, startModelGateway } from '../../support/model-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';
import { openAiError } from '../../support/openai-error.js';

let server: ScriptedModelServer;
let gateway: Gateway;
/** What the model answers when it is asked for queries; by default what was asked already. */
const SAME = JSON.stringify({ queries: ['When does the mill open?'] });
let rewriting = SAME;
beforeAll(async () => {
  server = await startScriptedModelServer({ contextTokens: 8192 });
  server.models.answer = (messages) =>
    messages[0]?.content.startsWith('You prepare a search') === true ? rewriting : 'At nine.';
  gateway = await startModelGateway(server);
});
afterEach(() => {
  server.reset();
  rewriting = SAME;
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

interface Extra {
  presented_sources: { chunk: { file_id: string } }[];
  retrieval_trace?: { queries: { kind: string; text: string; search?: unknown }[]; rewriting: object };
}

async function chat(body: object): Promise<{ status: number; files: string[]; extra: Extra }> {
  const { status, text } = await ask(gateway, body);
  const { extra } = JSON.parse(text) as { extra: Extra };
  return { status, files: (extra?.presented_sources ?? []).map(({ chunk }) => chunk.file_id), extra };
}

function index(partition: string, fileId: string, text: string, metadata: object = {}) {
  return indexText(gateway, { partition, fileId, metadata: JSON.stringify(metadata) }, [text]);
}

describe('a time that the question names', () => {
  it('chooses among the documents by their created_at, or is dropped', async () => {
    await index('minutes', 'january', 'The council met about the mill.', {
      created_at: '2026-01-15T10:00:00Z',
    });
    await index('minutes', 'february', 'The council met about the mill.  Again.', {
      created_at: '2026-02-01T00:00:00Z',
    });
    await index('minutes', 'undated', 'The council met about the mill, once more.');
    const messages = [{ role: 'user', content: 'What did the council discuss?' }];
    const span = (from: string, until: string) =>
      JSON.stringify({
        queries: [{ query: 'council about the mill', created_after: from, created_before: until }],
      });
    rewriting = span('2026-01-01', '2026-02-01');
    expect((await chat({ model: 'rag-minutes', messages })).files).toEqual(['january']);
    rewriting = span('2026-02-01', '2026-03-01');
    expect((await chat({ model: 'rag-minutes', messages })).files).toEqual(['february']);
    rewriting = span('1999-01-01', '2000-01-01');
    expect((await chat({ model: 'rag-minutes', messages })).files.sort()).toEqual([
      'february',
      'january',
      'undated',
    ]);
  });
});

describe('a file', () => {
  beforeAll(async () => {
    for (const fileId of ['north', 'south'])
      await index('mills', fileId, `The ${fileId} mill opens at nine.`);
  });
  const messages = [{ role: 'user', content: 'When does the mill open?' }];

  it('is the only one that is searched', async () => {
    for (const file_id of ['north', 'south'])
      expect((await chat({ model: 'rag-mills', messages, metadata: { file_id } })).files).toEqual([file_id]);
  });

  it('is one of a partition that is named, and there', async () => {
    const asked = (model: string, file_id: string) => chat({ model, messages, metadata: { file_id } });
    expect((await asked('rag-mills', 'none')).status).toBe(404);
    expect((await asked('partition-all', 'north')).status).toBe(400);
  });

  it('is searched as a preset says that is named', async () => {
    const asked = (preset: string) => chat({ model: 'rag-mills', messages, metadata: { preset } });
    expect((await asked('none')).status).toBe(422);
    const { presets } = gateway.adapters;
    const usual = (await presets.get('retrieval', 'default'))!;
    await presets.create({ ...usual, name: 'narrow', config: { ...usual.config, top_n: 1 } });
    expect((await asked('default')).files).toHaveLength(2);
    expect((await asked('narrow')).files).toHaveLength(1);
  });
});

describe('a workspace', () => {
  beforeAll(async () => {
    for (const partition of ['one', 'two']) {
      await index(partition, `${partition}-in`, 'The mill opens at nine.');
      await index(partition, `${partition}-out`, 'The mill opens at ten.');
      const headers = { 'Content-Type': 'application/json' };
      await gateway.call('POST', `/partition/${partition}/workspaces`, {
        headers,
        body: JSON.stringify({ workspace_id: 'shared', display_name: 'Shared' }),
      });
      const added = await gateway.call('POST', `/partition/${partition}/workspaces/shared/files`, {
        headers,
        body: JSON.stringify({ file_ids: [`${partition}-in`] }),
      });
      expect(added.status).toBeLessThan(300);
    }
  });

  it('is all that is searched', async () => {
    const metadata = { workspace: 'shared' };
    expect((await chat({ model: 'rag-one', metadata })).files).toEqual(['one-in']);
  });

  it('is 404 when there is none, and 422 when two partitions have one', async () => {
    expect((await chat({ model: 'rag-one', metadata: { workspace: 'nowhere' } })).status).toBe(404);
    expect((await chat({ model: 'partition-all', metadata: { workspace: 'shared' } })).status).toBe(422);
  });

  it('of somebody else does not exist', async () => {
    const eve = gateway.addUser('eve');
    await indexText(gateway, { partition: 'eves', fileId: 'own', token: eve.token }, [
      'The mill opens at six.',
    ]);
    for (const model of ['rag-eves', 'partition-all']) {
      const response = await gateway.call('POST', '/v1/chat/completions', {
        body: JSON.stringify({
          model,
          messages: [{ role: 'user', content: 'When does the mill open?' }],
          metadata: { workspace: 'shared' },
        }),
        headers: { 'Content-Type': 'application/json' },
        token: eve.token,
      });
      expect([response.status, await response.json()]).toEqual([
        404,
        openAiError('WORKSPACE_NOT_FOUND', 'Workspace not found'),
      ]);
    }
  });
});

describe('files that belong together', () => {
  it('come along behind what was found, unless that is turned off', async () => {
    const thread = { relationship_id: 'thread' };
    await index('mails', 'question', 'When does the mill open?', thread);
    await index('mails', 'reply', 'Nine sharp, as ever.', { ...thread, parent_id: 'question' });
    const messages = [{ role: 'user', content: 'mill open' }];
    const settings = { model: 'rag-mails', messages };
    const { files } = await chat(settings);
    expect(files).toContain('reply');
    expect(files[0]).toBe('question');
    const alone = await chat({
      ...settings,
      metadata: { retrieval_disable_expansion: true, retrieval_top_k: 1 },
    });
    expect(alone.files).toContain('question');
  });
});

describe('the trace', () => {
  it('tells an administrator how the sources were found', async () => {
    await index('traced', 'a', 'The mill opens at nine.');
    rewriting = JSON.stringify({ intent: 'other', queries: ['opening hours of the mill'] });
    const metadata = { include_retrieval_trace: true, compare_original_query: true };
    const { extra } = await chat({ model: 'rag-traced', metadata });
    expect(extra.retrieval_trace).toMatchObject({
      schema_version: 1,
      question: 'When does the mill open?',
      rewriting: { status: 'used', intent: 'other' },
      queries: [
        {
          kind: 'question',
          text: 'When does the mill open?',
          search: { groups: [{ embedder: 'builtin-hash' }] },
        },
        { kind: 'rewritten', text: 'opening hours of the mill' },
      ],
      fused: [expect.any(String)],
      presented: [expect.any(String)],
      original_query: [expect.any(String)],
    });
    expect((await chat({ model: 'rag-traced' })).extra).not.toHaveProperty('retrieval_trace');
  });
});
