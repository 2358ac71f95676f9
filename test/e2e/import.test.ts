import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { importWorkflowId } from '../../schemas/ids.js';
import type { ImportRunBody, ImportRuns } from '../../schemas/imports/imports-api.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { generatedText } from '../support/generated-text.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { runTamis } from '../support/run-tamis.js';
import { until } from '../support/until.js';
import { makePartition } from '../support/upload-texts.js';

const FILES = 16;
const PARTITION = 'library';
const QUESTIONS = ['sluice pond wheel', 'harbour lamp keeper', 'eel berth quay moth'];
const EXACT = 9_007_199_254_740_993n;

interface Row {
  file_id: string;
  content_sha256: string;
  [key: string]: unknown;
}

let source: RunningStack;
let target: RunningStack;

beforeAll(async () => {
  source = await openStack({ SUPER_ADMIN_MODE: 'true' });
  target = await openStack({ SUPER_ADMIN_MODE: 'true', IMPORT_ALLOW_PRIVATE_URLS: 'true' });
  for (const stack of [source, target]) await Promise.all([stack.startGateway(), stack.startWorker()]);
  await fill(source);
}, 300_000);
afterAll(async () => {
  await source.close();
  await target.close();
});

/** Users, a partition with members and a workspace, and files that are related. */
async function fill(stack: RunningStack): Promise<void> {
  await askStack(stack, 'POST', '/users/', { display_name: 'Ada', email: 'ada@example.org' });
  await askStack(stack, 'POST', '/users/', { display_name: 'Bo' });
  await makePartition(stack, PARTITION);
  await askStack(stack, 'PATCH', `/partition/${PARTITION}`, { description: 'Books', chat_history_depth: 7 });
  await stack.request(`/partition/${PARTITION}/users`, {
    method: 'POST',
    body: new URLSearchParams({ user_id: '2', role: 'editor' }),
  });
  await askStack(stack, 'POST', `/partition/${PARTITION}/workspaces`, {
    workspace_id: 'desk',
    display_name: 'On the desk',
  });
  const documents = documentClient(stack);
  const tasks: string[] = [];
  for (let file = 0; file < FILES; file += 1)
    tasks.push(
      await documents.upload('POST', PARTITION, `file-${file}`, generatedText(file, 3), `text-${file}.txt`, {
        relationship_id: 'shelf',
        ...(file === 0 ? {} : { parent_id: `file-${file - 1}` }),
        topic: { name: `topic ${file % 3}`, weight: 0.25 },
      }),
    );
  for (const task of tasks) expect(await documents.ended(task)).toMatchObject({ task_state: 'COMPLETED' });
  // A number that JSON.stringify cannot write.
  const form = new FormData();
  form.append('metadata', `{"exact": ${EXACT}}`);
  const path = `/indexer/partition/${PARTITION}/file/file-1`;
  expect((await stack.request(path, { method: 'PATCH', body: form })).status).toBe(200);
  const attach = { file_ids: ['file-2', 'file-3'] };
  await askStack(stack, 'POST', `/partition/${PARTITION}/workspaces/desk/files`, attach);
}

async function rowsOf(stack: RunningStack): Promise<string[]> {
  const response = await stack.request(`/partition/${PARTITION}`);
  const text = (await response.text()).replaceAll(stack.base, '');
  const { files } = JSON.parse(text.replaceAll(String(EXACT), `"${EXACT}"`)) as { files: Row[] };
  return files
    .map(({ indexed_at: _at, ...row }) => JSON.stringify(Object.fromEntries(Object.entries(row).sort())))
    .sort();
}

/** What is found, and the digest of the bytes that each of the extracts came from. */
async function look(stack: RunningStack): Promise<{ found: unknown[]; bytes: Record<string, string> }> {
  const documents = documentClient(stack);
  const found: unknown[] = [];
  const bytes: Record<string, string> = {};
  for (const text of QUESTIONS) {
    const hits = await documents.search(`/search/partition/${PARTITION}`, { text, top_k: '10' });
    found.push(hits.map(({ content, metadata }) => [metadata['file_id'], metadata['filename'], content]));
    for (const { link, metadata } of hits) {
      const response = await stack.request(`/static/${link.split('/extract/').at(-1)}`);
      bytes[String(metadata['file_id'])] = sha256Hex(new Uint8Array(await response.arrayBuffer()));
    }
  }
  return { found, bytes };
}

function tamis(args: string[], env: Record<string, string> = {}) {
  return runTamis(['import', ...args, '--json'], {
    env: { TAMIS_URL: target.base, TAMIS_TOKEN: target.token, ...env },
  });
}

async function runImport(args: string[], env?: Record<string, string>): Promise<ImportRunBody> {
  const { code, out, err } = await tamis(['start', 'old', '--watch', ...args], env);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out.trim().split('\n').at(-1)!) as ImportRunBody;
}

/** Also what stands in payloads, which are bytes. */
async function historyText(): Promise<string> {
  const handle = target.temporal.workflow.getHandle(importWorkflowId(target.config.temporal.prefix, 'old'));
  return JSON.stringify(await handle.fetchHistory(), (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
}

describe('an import of what another service holds', () => {
  it('counts alone in a dry run', async () => {
    const run = await runImport(['--dry-run', '--source-url', source.base], {
      TAMIS_SOURCE_TOKEN: source.token,
    });
    expect(run).toMatchObject({ state: 'completed', dry_run: true, done: FILES, total: FILES, refused: [] });
    expect(run.figures).toEqual({
      users: 2,
      users_known: 1,
      partitions: 1,
      members: 2,
      workspaces: 1,
      taken: FILES,
    });
    const { body } = await askStack<{ partitions: unknown[] }>(target, 'GET', '/partition/');
    expect(body.partitions).toEqual([]);
  }, 120_000);

  it('has the same files, words and answers although the worker is killed half way', async () => {
    const run = runImport(['--requests-per-second', '8']);
    await until(
      'half of the files have come',
      async () => {
        const counts = (await target.adapters.files.countByUploader([1])).get(1);
        return (counts?.files ?? 0) + (counts?.pending ?? 0) >= FILES / 2;
      },
      { withinMs: 120_000, everyMs: 50 },
    );
    await target.killWorker();
    await target.startWorker();
    expect(await run).toMatchObject({ state: 'completed', done: FILES, refused: [] });

    await until(
      'everything is indexed',
      async () => (await target.adapters.files.countPending(PARTITION)) === 0,
      {
        withinMs: 60_000,
      },
    );
    expect(await rowsOf(target)).toEqual(await rowsOf(source));
    expect(await look(target)).toEqual(await look(source));
    const { body: members } = await askStack(target, 'GET', `/partition/${PARTITION}/users`);
    expect(members).toMatchObject({
      members: [
        { user_id: 1, role: 'owner' },
        { display_name: 'Ada', email: 'ada@example.org', role: 'editor' },
      ],
    });
    const { body: inside } = await askStack(target, 'GET', `/partition/${PARTITION}/workspaces/desk/files`);
    expect(inside).toEqual({ file_ids: ['file-2', 'file-3'] });
    const { body: settings } = await askStack(target, 'GET', `/partition/${PARTITION}/config`);
    expect(settings).toMatchObject({ description: 'Books', chat_history_depth: 7, document_count: FILES });
  }, 240_000);

  it('changes nothing when it runs again, and lets nobody in again who was taken out here', async () => {
    const { body: members } = await askStack<{ members: { user_id: number; role: string }[] }>(
      target,
      'GET',
      `/partition/${PARTITION}/users`,
    );
    const ada = members.members.find(({ role }) => role === 'editor')!.user_id;
    await askStack(target, 'DELETE', `/partition/${PARTITION}/users/${ada}`);
    const before = await target.adapters.files.pageLive(PARTITION, { after: null, limit: 100 });
    const { figures } = await runImport([]);
    expect(figures).toEqual({ users_known: 3, partitions_known: 1, known: FILES });
    const { body } = await askStack<{ users: unknown[] }>(target, 'GET', '/users/');
    expect(body.users).toHaveLength(3);
    const { body: after } = await askStack(target, 'GET', `/partition/${PARTITION}/users`);
    expect(after).toMatchObject({ members: [{ user_id: 1, role: 'owner' }] });
    expect(await target.adapters.files.pageLive(PARTITION, { after: null, limit: 100 })).toEqual(before);
  }, 120_000);

  it('takes anew what was changed', async () => {
    const documents = documentClient(source);
    const task = await documents.upload('PUT', PARTITION, 'file-4', 'A new text of wheels.', 'text-4.txt', {
      relationship_id: 'shelf',
      parent_id: 'file-3',
    });
    expect(await documents.ended(task)).toMatchObject({ task_state: 'COMPLETED' });
    const form = new FormData();
    form.append('metadata', '{"topic": "another"}');
    await source.request(`/indexer/partition/${PARTITION}/file/file-5`, { method: 'PATCH', body: form });
    const { figures } = await runImport([]);
    expect(figures).toMatchObject({ renewed: 1, words_changed: 1, known: FILES - 2 });
    await until('the new text is live', async () => {
      const file = await target.adapters.files.get(PARTITION, 'file-4');
      return file?.pending_task === null && file.live?.content_sha256 === sha256Hex('A new text of wheels.');
    });
    expect(await rowsOf(target)).toEqual(await rowsOf(source));
  }, 120_000);

  it('keeps the token of the source out of histories, logs and answers', async () => {
    const { body } = await askStack<ImportRuns>(target, 'GET', '/admin/imports/old/runs');
    const { out } = await tamis(['status']);
    for (const text of [await historyText(), target.logs(), JSON.stringify(body), out])
      expect(text).not.toContain(source.token);
    expect(out).toContain(source.base);
  });

  it('ends with what the source says to a token that it does not know', async () => {
    const { code, out } = await tamis(['start', 'old', '--watch', '--source-token', 'or-of-nobody']);
    expect(code).toBe(1);
    expect(out).toContain('IMPORT_SOURCE_REFUSED');
  }, 60_000);
});
