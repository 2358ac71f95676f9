import { expect, test } from '@jest/globals';
import type { StoredDocument } from '../../../activities/ports/backups.js';
import { sampleVersion } from '../../contracts/samples.js';
import { openRestoredStores } from '../../support/restored-stores.js';

/** A live file of the partition `library` whose record was made in this minute. */
function fileOf(
  key: string,
  { fileId = 'a.txt', minute }: { fileId?: string; minute: number },
): StoredDocument {
  return {
    _id: key,
    name_key: `library/${fileId}`,
    partition: 'library',
    file_id: fileId,
    created_by: null,
    created_at: new Date(Date.UTC(2026, 0, 31, 12, minute)),
    latest_generation: minute,
    live: sampleVersion({
      generation: minute,
      task_id: `task of ${key}`,
      upload_id: `upload of ${key}`,
      content_sha256: 'the same bytes',
      embedder: 'builtin-hash',
      chunk_count: 0,
      metadata: {},
    }),
    pending_task: null,
  };
}

const PARTITION = { section: 'settings', collection: 'partitions', records: [{ _id: 'library' }] } as const;

async function openFiles(parts: readonly StoredDocument[][]) {
  const files = parts.map((records) => ({ section: 'files', collection: 'files', records }) as const);
  const stores = await openRestoredStores([PARTITION, ...files]);
  const vectors = { name: 'builtin-hash', vector_field: 'v', dimension: 1 };
  stores.target.endpoints.list = async () => [vectors as never];
  return stores;
}

const older = fileOf('key of the older one', { minute: 1 });
const newer = fileOf('key of the newer one', { minute: 2 });

test.each([
  ['the older one first, in one part', [[older, newer]]],
  ['the newer one first, in one part', [[newer, older]]],
  ['the older one first, in two parts', [[older], [newer]]],
  ['the newer one first, in two parts', [[newer], [older]]],
])('of two files with one name the newer one is restored: %s', async (_order, parts) => {
  const { restore, records, target } = await openFiles(parts);
  const { counts } = await restore();
  expect(counts).toMatchObject({ files: 1, left_out: 1 });
  expect(records('files').filter(({ name_key: name }) => name !== undefined)).toEqual([
    expect.objectContaining({ _id: newer._id, live: newer['live'] }),
  ]);
  expect(await target.blobs.info(`upload of ${newer._id}`)).not.toBeNull();
  // The bytes are held by the file that stays, so that they are known when they come again.
  const claims: string[] = [];
  for await (const { fileKey } of target.claims.scan()) claims.push(fileKey);
  expect(claims).toEqual([newer._id]);
});

test('a part that is read again comes to the same', async () => {
  const { restore, records } = await openFiles([[older, newer]]);
  let isRepeated = false;
  const { counts } = await restore({
    between: async (position) => {
      if (position.part !== 2 || isRepeated) return;
      isRepeated = true;
      position.part = 1;
      position.counts = {};
    },
  });
  expect(isRepeated).toBe(true);
  expect(counts).toMatchObject({ files: 1, left_out: 1 });
  expect(records('files').filter(({ live }) => live !== null)).toEqual([
    expect.objectContaining({ _id: newer._id }),
  ]);
});

test('a file that was uploaded while the restore runs stays', async () => {
  const { restore, records, archive, target } = await openFiles([[older]]);
  const uploaded = fileOf('key of the uploaded one', { minute: 59 });
  const { counts } = await restore({
    between: async ({ phase, part }) => {
      if (phase === 'files' && part === 1) await archive.write('files', [uploaded]);
    },
  });
  expect(counts).toMatchObject({ files: 0, left_out: 1 });
  expect(records('files')).toEqual([uploaded]);
  expect(await target.blobs.info(`upload of ${older._id}`)).toBeNull();
});

const ADA = { _id: 7, external_user_id: 'ada', email_key: 'ada@example.org' };
function atMinute(minute: number): Date {
  return new Date(Date.UTC(2026, 0, 31, 12, minute));
}
const AFTER_IT = new Date('2026-03-01T00:00:00Z');

test('a user who was made by a sign-in while the restore runs gives way to that of the backup', async () => {
  const users = [{ ...ADA, created_at: atMinute(1) }];
  const { restore, records, archive } = await openRestoredStores([
    { section: 'settings', collection: 'users', records: users },
  ]);
  await archive.write('users', [{ _id: 1, token_digest: 'of this stack' }]);
  const { counts } = await restore({
    replace: true,
    between: async ({ phase }) => {
      if (phase !== 'restoring') return;
      await archive.write('users', [{ _id: 90, external_user_id: 'ada', created_at: AFTER_IT }]);
      await archive.write('users', [{ _id: 91, email_key: 'ada@example.org', created_at: AFTER_IT }]);
    },
  });
  expect(records('users').map(({ _id }) => _id)).toEqual([1, 7]);
  expect(counts).toMatchObject({ users: 1, left_out: 0 });
});

test.each([
  ['read first', [7, 8]],
  ['read last', [8, 7]],
])(
  'of two users of the backup with one address the newer one is restored, the older one %s',
  async (_, ids) => {
    const users = ids.map((id) => ({ ...ADA, _id: id, created_at: atMinute(id) }));
    const { restore, records } = await openRestoredStores([
      { section: 'settings', collection: 'users', records: users },
    ]);
    const { counts } = await restore();
    expect(records('users')).toEqual([users.find(({ _id }) => _id === 8)]);
    expect(counts).toMatchObject({ users: 1, left_out: 1 });
  },
);

test('a user of the backup with the token of this administrator is left out', async () => {
  const { restore, records, archive } = await openRestoredStores([
    { section: 'settings', collection: 'users', records: [{ ...ADA, token_digest: 'of this stack' }] },
  ]);
  await archive.write('users', [{ _id: 1, token_digest: 'of this stack', created_at: AFTER_IT }]);
  const { counts } = await restore();
  expect(records('users').map(({ _id }) => _id)).toEqual([1]);
  expect(counts).toMatchObject({ users: 0, left_out: 1 });
});

test('a signal that its machine pushed again while the restore runs stays', async () => {
  const alert = { watcher: 'w', identity: 'i', state: 'forwarded' };
  const { restore, records, archive } = await openRestoredStores([
    { section: 'signals', collection: 'alerts', records: [{ _id: 1, ...alert }] },
  ]);
  const { counts } = await restore({
    between: async ({ phase }) => {
      if (phase === 'restoring') await archive.write('alerts', [{ _id: 50, ...alert }]);
    },
  });
  expect(records('alerts').map(({ _id }) => _id)).toEqual([50]);
  expect(counts).toMatchObject({ alerts: 0, left_out: 1 });
});
