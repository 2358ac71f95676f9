import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import S3rver from 's3rver';
import { createFolderStorage } from '../../../activities/stores/backups/folder-storage.js';
import { openBackupStorage } from '../../../activities/stores/backups/open-backup-storage.js';
import { createS3Storage } from '../../../activities/stores/backups/s3-storage.js';
import type { BackupStorage } from '../../../activities/ports/backups.js';
import { freePort } from '../../support/free-port.js';
import { createFakeBackupStorage } from '../../support/fakes/backups/fake-backup-storage.js';
import { times } from '../samples.js';

let folder: string;
let server: S3rver;
let endpoint: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-backups-'));
  server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: join(folder, 's3'),
    configureBuckets: [{ name: 'backups', configs: [] }],
  });
  const { port } = await server.run();
  endpoint = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The credentials that this server knows. */
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

function s3(prefix: string, change: object = {}): BackupStorage {
  return createS3Storage({
    bucket: 'backups',
    prefix,
    endpoint,
    region: 'us-east-1',
    credentials: CREDENTIALS,
    pathStyle: true,
    ...change,
  });
}

let serial = 0;
const SUBJECTS: [string, () => BackupStorage][] = [
  ['fake', createFakeBackupStorage],
  ['folder', () => createFolderStorage(join(folder, `own-${(serial += 1)}`, 'and deeper'))],
  ['S3', () => s3(`own-${(serial += 1)}/deeper`)],
];

describe.each(SUBJECTS)('backup storage (%s)', (_name, open) => {
  let storage: BackupStorage;
  beforeEach(() => {
    storage = open();
  });
  afterEach(() => storage.close());

  test('gives back what was put, the last of a name', async () => {
    const bytes = Buffer.from(times(70_000, (each) => each % 256));
    await storage.put('one/part.tar.gz', Buffer.from('former'));
    await storage.put('one/part.tar.gz', bytes);
    await storage.put('one/empty', new Uint8Array());
    expect((await storage.get('one/part.tar.gz')).equals(bytes)).toBe(true);
    expect(await storage.get('one/empty')).toHaveLength(0);
  });

  test('says what is not there', async () => {
    await expect(storage.get('one/nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await storage.folders()).toEqual([]);
    await storage.removeFolder('nothing');
  });

  test('lists the first steps of names and removes what is below one', async () => {
    await Promise.all(['a/1', 'a/2', 'ab/1', 'b/1'].map((name) => storage.put(name, Buffer.from(name))));
    expect((await storage.folders()).sort()).toEqual(['a', 'ab', 'b']);
    await storage.removeFolder('a');
    expect((await storage.folders()).sort()).toEqual(['ab', 'b']);
    expect((await storage.get('ab/1')).toString()).toBe('ab/1');
  });

  test('puts nothing once it is told to stop', async () => {
    await expect(
      storage.put('stopped/1', Buffer.alloc(10), AbortSignal.abort(new Error('stop'))),
    ).rejects.toThrow('stop');
    expect(await storage.folders()).not.toContain('stopped');
  });
});

describe('a folder', () => {
  test('holds files that nobody else reads, whole ones only', async () => {
    const place = join(folder, 'modes');
    await createFolderStorage(place).put('id/part', Buffer.from('x'));
    expect((await stat(join(place, 'id'))).mode & 0o077).toBe(0);
    expect((await stat(join(place, 'id/part'))).mode & 0o077).toBe(0);
    expect(await readdir(join(place, 'id'))).toEqual(['part']);
  });

  test('that cannot be written is refused, with the reason', async () => {
    const file = join(folder, 'a file');
    await writeFile(file, '');
    await mkdir(join(folder, 'taken', 'id', 'part'), { recursive: true });
    await expect(createFolderStorage(file).put('id/part', Buffer.from('x'))).rejects.toMatchObject({
      code: 'BACKUP_STORAGE_REFUSED',
      message: expect.stringMatching(/a file cannot be used: (?:ENOTDIR|EEXIST)/),
    });
    await expect(
      createFolderStorage(join(folder, 'taken')).put('id/part', Buffer.from('x')),
    ).rejects.toMatchObject({ code: 'BACKUP_STORAGE_REFUSED' });
  });
});

describe('a bucket', () => {
  test('that refuses us is told from one that cannot be reached', async () => {
    const missing = s3('x', { bucket: 'nowhere' });
    await expect(missing.put('id/part', Buffer.from('x'))).rejects.toMatchObject({
      code: 'BACKUP_STORAGE_REFUSED',
      message: expect.stringContaining('NoSuchBucket'),
    });
    const away = s3('x', { endpoint: `http://127.0.0.1:${await freePort()}` });
    await expect(away.get('id/part')).rejects.toMatchObject({ code: 'BACKUP_STORAGE_ERROR' });
    for (const each of [missing, away]) each.close();
  }, 30_000);
});

describe('BACKUP_LOCATION', () => {
  const settings = { endpoint: null, region: 'us-east-1', credentials: null, pathStyle: false };
  test.each([
    [null, undefined],
    ['/var/backups', '/var/backups'],
    ['s3://bucket', 's3://bucket'],
    ['s3://bucket/', 's3://bucket'],
    ['s3://bucket/tamis/prod/', 's3://bucket/tamis/prod'],
  ])('%s', async (location, place) => {
    const opened = await openBackupStorage({ location, keep: 0, s3: settings });
    expect(opened?.place).toBe(place);
    opened?.close();
  });
});
