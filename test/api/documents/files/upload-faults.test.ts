import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { cleanFileRecord } from '../../../../activities/documents/clean-up/clean-file-record.js';
import { createSweepActivities } from '../../../../activities/documents/sweep-activities.js';
import { AppError } from '../../../../schemas/app-error.js';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { sampleTask } from '../../../contracts/samples.js';
import { NOTHING, leftovers, taskIdOf, until, uploadForm } from '../../support/uploads.js';

const PATH = '/indexer/partition/notes/file/a1';
const MEGABYTE = 1024 * 1024;
let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ env: { MAX_UPLOAD_SIZE_MB: '1' } });
});
afterEach(async () => {
  expect(await leftovers(gateway)).toEqual(NOTHING);
  await gateway.close();
});

async function refused(body: FormData, path = PATH) {
  const response = await gateway.call('POST', path, { body });
  expect(await gateway.adapters.partitions.get('notes')).toBeNull();
  return [response.status, ((await response.json()) as { detail: unknown }).detail];
}

describe('a refused upload leaves no bytes, task, claim or partition', () => {
  it.each([
    ['a space', '/indexer/partition/notes/file/a%20b'],
    ['an encoded slash', '/indexer/partition/notes/file/a%2Fb'],
    ['300 characters', `/indexer/partition/notes/file/${'x'.repeat(300)}`],
  ])('file id with %s', async (_what, path) => {
    expect(await refused(uploadForm(), path)).toEqual([400, expect.stringMatching(/^Invalid file id/)]);
  });

  it('partition name that is reserved or odd', async () => {
    expect(await refused(uploadForm(), '/indexer/partition/all/file/a1')).toEqual([
      400,
      expect.stringMatching(/^\[RESERVED_PARTITION_NAME\]: /),
    ]);
    expect(await refused(uploadForm(), '/indexer/partition/a%20b/file/a1')).toEqual([
      400,
      expect.stringMatching(/^Invalid partition name/),
    ]);
  });

  it('no file, or a part without a file name', async () => {
    const none = new FormData();
    none.set('metadata', '{}');
    const missing = [expect.objectContaining({ type: 'missing', loc: ['body', 'file'] })];
    expect(await refused(none)).toEqual([422, missing]);
    const text = new FormData();
    text.set('file', 'just text');
    expect(await refused(text)).toEqual([422, missing]);
  });

  it('a body that is no form', async () => {
    const response = await gateway.call('POST', PATH, {
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(response.status).toBe(422);
    const broken = await gateway.call('POST', PATH, {
      body: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    });
    expect([broken.status, await broken.json()]).toEqual([
      400,
      { detail: 'There was an error parsing the body' },
    ]);
    const unbound = await gateway.call('POST', PATH, {
      body: 'x',
      headers: { 'Content-Type': 'multipart/form-data' },
    });
    expect(unbound.status).toBe(400);
  });

  it('a file in another field, and two files', async () => {
    const wrong = new FormData();
    wrong.set('document', new Blob(['x']), 'a.txt');
    expect((await refused(wrong))[0]).toBe(422);
    const two = uploadForm();
    two.append('file', new Blob(['y']), 'b.txt');
    expect((await refused(two))[0]).toBe(422);
    const late = uploadForm();
    late.append('document', new Blob(['y'.repeat(200_000)]), 'b.txt');
    expect((await refused(late))[0]).toBe(422);
  });

  it('a type that is not known', async () => {
    expect(await refused(uploadForm('x', { filename: 'a.xyz' }))).toEqual([
      415,
      expect.stringContaining('.xyz'),
    ]);
    expect(await refused(uploadForm('x', { filename: 'noextension' }))).toEqual([415, expect.any(String)]);
    const byType = uploadForm('x', { filename: 'a.xyz', metadata: '{"mimetype":"image/x-odd"}' });
    expect((await refused(byType))[0]).toBe(415);
  });

  it('content that is not its extension', async () => {
    for (const filename of ['a.pdf', 'a.docx'])
      expect(await refused(uploadForm('plain text', { filename }))).toEqual([
        415,
        expect.stringContaining('does not match'),
      ]);
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['a list', '[1]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['an integer beyond 64 bits', '{"n":9223372036854775808}'],
    ['a number beyond a double', '{"n":1e999}'],
    ['a date that is none', '{"created_at":"soon"}'],
    ['a date in microseconds', '{"created_at":1700000000000000}'],
    ['a relationship id that is no text', '{"relationship_id":7}'],
    ['nesting without end', `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`],
    ['nesting beyond our limit', `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`],
  ])('metadata that is %s', async (_what, metadata) => {
    expect(await refused(uploadForm('x', { metadata }))).toEqual([400, expect.stringMatching(/^metadata/)]);
  });

  it('callbacks to addresses inside, and workspaces that are not there', async () => {
    expect(await refused(uploadForm('x', { callback_url: 'http://127.0.0.1/hook' }))).toEqual([
      400,
      'callback_url must be a public http(s) URL',
    ]);
    expect(await refused(uploadForm('x', { workspace_ids: '["w"]' }))).toEqual([404, 'Workspace not found']);
    expect((await refused(uploadForm('x', { workspace_ids: 'w' })))[0]).toBe(400);
  });

  it('a name of which nothing is left', async () => {
    expect(
      await refused(uploadForm('x', { filename: ' .. ', metadata: '{"mimetype":"text/plain"}' })),
    ).toEqual([400, 'Invalid file name']);
  });

  it('more bytes than allowed', async () => {
    expect(await refused(uploadForm('x'.repeat(MEGABYTE + 1)))).toEqual([
      413,
      'File exceeds the maximum allowed size of 1 MB.',
    ]);
    // Told by its length alone, unread.
    expect((await refused(uploadForm('x'.repeat(6 * MEGABYTE))))[0]).toBe(413);
  });

  it('several faults: the earlier check of the contract wins, wherever the fault stands in the form', async () => {
    const all = { filename: 'a.xyz', metadata: '[]', callback_url: 'x', workspace_ids: '["w"]' };
    const big = 'x'.repeat(MEGABYTE + 1);
    expect((await refused(uploadForm(big, all)))[0]).toBe(415);
    const inFront = new FormData();
    inFront.set('metadata', '[]');
    inFront.set('file', new Blob([big]), 'a.txt');
    expect(await refused(inFront)).toEqual([400, expect.stringMatching(/^metadata/)]);
  });

  it('a text field beyond measure', async () => {
    expect((await refused(uploadForm('x', { metadata: `"${'x'.repeat(2 * MEGABYTE)}"` })))[0]).toBe(400);
  });
});

describe('a client that leaves in the middle of an upload', () => {
  it('leaves nothing behind', async () => {
    let writing = 0;
    const { write } = gateway.adapters.blobs;
    gateway.adapters.blobs.write = (blob, source, signal) => {
      writing += 1;
      return write(blob, source, signal).finally(() => (writing -= 1));
    };
    const client = request(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${ADMIN_TOKEN}`,
        'Content-Type': 'multipart/form-data; boundary=b',
        'Content-Length': '900000',
      },
    });
    client.on('error', () => {});
    client.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
    client.write('x'.repeat(100_000));
    await until(() => writing === 1);
    client.destroy();
    await until(() => writing === 0);
    await until(async () => (await leftovers(gateway)).blobs.length === 0);
    const logged = () => gateway.logLines.find((line) => line.includes('client_left'));
    await until(() => logged() !== undefined);
    expect(JSON.parse(logged()!)).toMatchObject({ status: 499 });
    expect(gateway.logLines.join('')).not.toContain('"level":50');
  });
});

describe('an admission so slow that the sweep takes it for what a crash has left', () => {
  afterEach(() => void jest.restoreAllMocks());

  /** The claim takes twelve seconds, and the sweep comes before or behind it. */
  const claimSlowly = (order: 'before' | 'behind') => {
    const { claims } = gateway.adapters;
    const original = claims.claim;
    jest.spyOn(claims, 'claim').mockImplementation(async (input) => {
      const now = Date.now() + 12_000;
      jest.spyOn(Date, 'now').mockImplementation(() => now);
      const sweep = createSweepActivities({
        adapters: gateway.adapters,
        plans: { stateOf: async () => 'open' },
        settings: { graceMs: 10_000, timeoutMs: 3_600_000, orphanGraceMs: 3_600_000, runningPerUser: 32 },
        now: () => new Date(now),
      });
      if (order === 'before') await sweep.findUnstarted();
      const answer = await original(input);
      if (order === 'behind') await sweep.findUnstarted();
      return answer;
    });
  };

  it.each(['before', 'behind'] as const)('is refused (%s its claim)', async (order) => {
    claimSlowly(order);
    const response = await gateway.call('POST', PATH, { body: uploadForm() });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      detail: expect.stringContaining('took too long to be admitted'),
    });
    expect((await gateway.adapters.files.get('notes', 'a1'))?.pending_task ?? null).toBeNull();
  });

  it('leaves what it would have replaced at work', async () => {
    const first = await taskIdOf(await gateway.call('POST', PATH, { body: uploadForm() }));
    await gateway.adapters.tasks.markHandedOver(first);
    claimSlowly('behind');
    const response = await gateway.call('PUT', PATH, { body: uploadForm('another text') });
    expect(response.status).toBe(503);
    expect((await gateway.adapters.files.get('notes', 'a1'))?.pending_task).toBe(first);
    const task = await gateway.adapters.tasks.get(first);
    expect(task).toMatchObject({ state: 'QUEUED' });
    await gateway.call('DELETE', PATH);
    await cleanFileRecord(gateway.adapters, task!.file_key, { keepUploads: true });
    await gateway.adapters.tasks.remove(first);
  });
});

describe('a store that fails', () => {
  const FAULTS = [
    ['tasks', 'insert'],
    ['claims', 'claim'],
    ['files', 'admitFirst'],
    ['counters', 'nextGeneration'],
    ['blobs', 'write'],
    ['blobs', 'read'],
  ] as const;

  it.each(FAULTS)('%s.%s', async (store, method) => {
    const broken = gateway.adapters[store] as unknown as Record<string, () => Promise<never>>;
    const driverError = Object.assign(new Error('E11000 at 10.0.0.5'), { code: 11000 });
    broken[method] = () => Promise.reject(driverError);
    const response = await gateway.call('POST', PATH, {
      body: uploadForm('%PDF-1.7', { filename: 'a.pdf' }),
    });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('E11000');
  });

  it('files.admitFirst, which did it and whose answer was lost', async () => {
    const { admitFirst } = gateway.adapters.files;
    gateway.adapters.files.admitFirst = async (input) => {
      await admitFirst(input);
      throw new AppError('SERVICE_UNAVAILABLE');
    };
    const response = await gateway.call('POST', PATH, { body: uploadForm() });
    expect(response.status).toBe(503);
    expect((await gateway.adapters.files.get('notes', 'a1'))?.pending_task).toBeNull();
  });
});

describe('a new partition whose first upload is refused at its admission', () => {
  /** A place that another upload of this user has taken in the moment before. */
  const refuseBy = (meanwhile: () => Promise<unknown>) =>
    jest.spyOn(gateway.adapters.quotas, 'reserve').mockImplementation(async () => {
      await meanwhile();
      throw new AppError('QUOTA_EXCEEDED');
    });
  afterEach(() => void jest.restoreAllMocks());
  const upload = (token: string) => gateway.call('POST', PATH, { token, body: uploadForm() });

  it('goes again', async () => {
    const { token } = gateway.addUser('ada', { file_quota: 3 });
    refuseBy(async () => undefined);
    expect((await upload(token)).status).toBe(429);
    expect(await gateway.adapters.partitions.get('notes')).toBeNull();
    expect(await gateway.adapters.partitions.listDeleted()).toEqual([]);
  });

  it.each<[string, (userId: number) => Promise<unknown>]>([
    [
      'has another upload',
      () => gateway.adapters.tasks.insert(sampleTask({ partition: 'notes', file_key: 'k' })),
    ],
    ['has another member', () => gateway.adapters.partitions.addMember('notes', 77, 'viewer')],
    ['was changed', () => gateway.adapters.partitions.update('notes', { description: 'ours' })],
  ])('stays where it %s by now', async (_what, meanwhile) => {
    const { token, userId } = gateway.addUser('ada', { file_quota: 3 });
    refuseBy(() => meanwhile(userId));
    expect((await upload(token)).status).toBe(429);
    expect(await gateway.adapters.partitions.get('notes')).not.toBeNull();
    for await (const { task_id } of gateway.adapters.tasks.scan())
      await gateway.adapters.tasks.remove(task_id);
  });
});
