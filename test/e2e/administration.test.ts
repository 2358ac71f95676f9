import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { olderPage } from '../support/front-ends/older-page.js';
import { replayCalls } from '../support/front-ends/replay-calls.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';

const ORIGIN = 'https://front.example.org';
const BIG = '9007199254740993';

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;
beforeAll(async () => {
  stack = await openStack({
    CORS_EXTRA_ORIGINS: ORIGIN,
    DEFAULT_FILE_QUOTA: '10',
    SAVE_UPLOADED_FILES: 'true',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

async function send(method: string, path: string, body?: unknown): Promise<[number, unknown]> {
  const response = await stack.request(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}

describe('the administration, on real services', () => {
  it('makes users, members and settings', async () => {
    const [status, user] = await send('POST', '/users/', {
      display_name: 'Grace',
      email: 'grace@example.org',
    });
    expect([status, user]).toEqual([201, expect.objectContaining({ id: 2, file_quota: 10 })]);
    expect((await send('POST', '/users/', { email: 'GRACE@example.org' }))[0]).toBe(409);
    expect((await send('POST', '/partition/mill'))[0]).toBe(201);
    const form = new URLSearchParams({ user_id: '2', role: 'editor' });
    const added = await stack.request('/partition/mill/users', { method: 'POST', body: form });
    expect(added.status).toBe(201);
    const patch = { indexation_preset: 'legal', description: 'Déjà vu' };
    expect((await send('PATCH', '/partition/mill', patch))[1]).toMatchObject(patch);
  });

  it('keeps metadata to the last digit, through every store', async () => {
    const sent = `{"big":${BIG},"least":-9223372036854775808,"clé 🔑":"東京","none":[],"$deep":{"a.b":[{},[1]]},"relationship_id":"a/b"}`;
    const body = new FormData();
    body.append('file', new Blob(['The quokka sleeps in the millrace.']), 'quokka.txt');
    body.append('metadata', sent);
    const upload = await stack.request('/indexer/partition/mill/file/quokka', { method: 'POST', body });
    const { task_status_url: url } = (await upload.json()) as { task_status_url: string };
    expect((await client.ended(url)).task_state).toBe('COMPLETED');
    const [hit] = await client.search('/search/partition/mill', { text: 'quokka' });
    const id = hit?.link.split('/').at(-1) ?? '';
    for (const path of [
      '/partition/mill',
      '/partition/mill/file/quokka',
      '/search/partition/mill?text=quokka',
      `/extract/${id}`,
      '/partition/mill/chunks',
      '/mill/relationships/a/b',
    ]) {
      const text = await (await stack.request(path)).text();
      for (const fragment of [
        `"big":${BIG}`,
        '"least":-9223372036854775808',
        '"clé 🔑":"東京"',
        '"none":[]',
        '"$deep":{"a.b":[{},[1]]}',
      ])
        expect([path, fragment, text.includes(fragment)]).toEqual([path, fragment, true]);
    }
    const file = await stack.request(`/static/${id}`, { headers: { range: 'bytes=4-9' } });
    expect([file.status, await file.text()]).toEqual([206, 'quokka']);
    const [, { chunks }] = (await send('GET', '/partition/mill/chunks')) as [
      number,
      { chunks: { metadata: { vector: string } }[] },
    ];
    expect((JSON.parse(chunks[0]?.metadata.vector ?? '[]') as number[]).length).toBe(1024);
  });

  it('deletes a workspace with the files that live by it, and leaves nothing', async () => {
    expect((await send('POST', '/partition/mill/workspaces', { workspace_id: 'w' }))[0]).toBe(201);
    const body = new FormData();
    body.append('file', new Blob(['Only for the workspace.']), 'own.txt');
    body.append('workspace_ids', '["w"]');
    const upload = await stack.request('/indexer/partition/mill/file/own', { method: 'POST', body });
    const { task_status_url: url } = (await upload.json()) as { task_status_url: string };
    expect((await client.ended(url)).task_state).toBe('COMPLETED');
    expect(await send('POST', '/partition/mill/workspaces/w/files', { file_ids: ['quokka'] })).toEqual([
      200,
      { status: 'added', file_ids: ['quokka'] },
    ]);
    expect(await send('DELETE', '/partition/mill/workspaces/w')).toEqual([
      200,
      { status: 'deleted', orphaned_files_deleted: 1, orphaned_files_failed: [], kept_files: 0 },
    ]);
    expect((await send('GET', '/partition/mill/file/own'))[0]).toBe(404);
    expect((await send('GET', '/partition/mill/file/quokka'))[0]).toBe(200);
    expect((await send('DELETE', '/users/2'))[0]).toBe(204);
    expect(await remainingDrift(stack)).toEqual([]);
  }, 60_000);

  it('serves the indexer front end', async () => {
    await replayCalls(olderPage, {
      base: stack.base,
      token: stack.token,
      origin: ORIGIN,
      values: { partition: 'replay' },
      async settle(url) {
        expect((await client.ended(url)).task_state).toBe('COMPLETED');
      },
    });
  }, 120_000);
});
