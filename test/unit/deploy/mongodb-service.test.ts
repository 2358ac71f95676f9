import { chmodSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LauncherError } from '../../../deploy/local/launcher-error.js';
import { obtain } from '../../../deploy/local/obtain.js';
import { mongodb } from '../../../deploy/local/services/mongodb.js';
import { postgres } from '../../../deploy/local/services/postgres.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

const path = process.env['PATH'];
let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
  process.env['PATH'] = join(folder, 'bin');
});
afterEach(() => {
  process.env['PATH'] = path;
});

function program(place: string, prints: string): void {
  mkdirSync(join(folder, place, '..'), { recursive: true });
  writeFileSync(join(folder, place), `#!/bin/sh\necho '${prints}'\n`);
  chmodSync(join(folder, place), 0o755);
}

describe('a MongoDB is looked for', () => {
  test('on PATH first, then where earlier runs left a mongod, then where they left FerretDB', async () => {
    const bench = testBench(folder);
    program('cache/ferretdb-2.7.0/ferretdb', '');
    expect((await obtain(bench, mongodb)).kind).toBe('ferretdb');
    program('cache/mongod/mongod', 'db version v8.0.4');
    expect(await obtain(bench, mongodb)).toMatchObject({
      kind: 'mongod',
      label: expect.stringContaining('8.0.4'),
    });
    program('bin/mongod', 'db version v7.0.1');
    expect(await obtain(bench, mongodb)).toMatchObject({ kind: 'mongod', path: join(folder, 'bin/mongod') });
  });

  test('and one that is too old is passed over', async () => {
    program('cache/ferretdb-2.7.0/ferretdb', '');
    program('bin/mongod', 'db version v6.0.19');
    expect((await obtain(testBench(folder), mongodb)).kind).toBe('ferretdb');
  });

  test('but the one whose data are in the clone goes before any that has come since', async () => {
    const bench = testBench(folder);
    mkdirSync(join(folder, '.local/postgres/data'), { recursive: true });
    program('bin/mongod', 'db version v8.0.4');
    program('cache/mongod/mongod', 'db version v8.0.4');
    // Built anew where the cache was deleted: a mongod is no way out.
    for (const way of [mongodb.find, mongodb.kept, mongodb.download]) expect(await way(bench)).toBeNull();
    program('cache/ferretdb-2.7.0/ferretdb', '');
    expect((await obtain(bench, mongodb)).kind).toBe('ferretdb');
    mkdirSync(join(folder, '.local/mongod'), { recursive: true });
    writeFileSync(join(folder, '.local/mongod/WiredTiger'), '');
    expect((await obtain(bench, mongodb)).kind).toBe('mongod');
  });

  test('and of two whose data are in the clone the one that ran last', async () => {
    const bench = testBench(folder);
    program('bin/mongod', 'db version v8.0.4');
    program('cache/ferretdb-2.7.0/ferretdb', '');
    const [ofMongod, ofFerretdb] = ['mongod/WiredTiger.turtle', 'postgres/data/global/pg_control'].map(
      (file) => join(folder, '.local', file),
    ) as [string, string];
    for (const file of [ofMongod, ofFerretdb, join(folder, '.local/mongod/WiredTiger')]) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, '');
    }
    utimesSync(ofMongod, 1_000, 1_000);
    expect((await obtain(bench, mongodb)).kind).toBe('ferretdb');
    utimesSync(ofFerretdb, 500, 500);
    expect((await obtain(bench, mongodb)).kind).toBe('mongod');
  });

  test('and a mongod that is gone is named rather than replaced by an empty FerretDB', async () => {
    const bench = testBench(folder);
    mkdirSync(join(folder, '.local/mongod'), { recursive: true });
    writeFileSync(join(folder, '.local/mongod/WiredTiger'), '');
    program('cache/ferretdb-2.7.0/ferretdb', '');
    expect(await mongodb.find(bench)).toBeNull();
    expect(await mongodb.kept(bench)).toBeNull();
    const error = (await mongodb.build(bench).catch((reason: unknown) => reason)) as LauncherError;
    for (const part of [join(folder, '.local/mongod'), 'mongod', 'FerretDB', 'npm run reset'])
      expect(error.explain()).toContain(part);
  });

  test('and where none can be had, one sentence says what to install', async () => {
    const error = await mongodb.build(testBench(folder)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LauncherError);
    const told = (error as LauncherError).explain();
    expect(told.split('\n')).toHaveLength(1);
    for (const part of ['mongod 7', 'apt-get and dpkg-deb', 'Go 1.25', 'missing: ', 'MONGODB_URL'])
      expect(told).toContain(part);
  });

  test('and only FerretDB needs PostgreSQL', () => {
    expect(mongodb.needs?.({ path: '', label: '', kind: 'mongod' })).toBeNull();
    expect(mongodb.needs?.({ path: '', label: '', kind: 'ferretdb' })).toBe(postgres);
  });
});

describe('the launch of the two', () => {
  const home = () => {
    const made = join(folder, 'home');
    mkdirSync(made);
    writeFileSync(join(made, 'packages.txt'), `postgresql-18-documentdb=1.0-0-1 ${'a'.repeat(64)}\n`);
    return { path: made, kind: 'postgres', label: '' };
  };

  test('PostgreSQL listens on loopback alone, keeps what it has answered, and asks for a password', async () => {
    const bench = testBench(folder);
    const { args, cwd } = await postgres.launch(bench, home(), [5555], null);
    const config = readFileSync(join(cwd, 'postgresql.conf'), 'utf8');
    expect(config).toMatch(/^listen_addresses = '127\.0\.0\.1'$/m);
    expect(config).toMatch(/^port = 5555$/m);
    expect(config).not.toMatch(/^(fsync|synchronous_commit|full_page_writes)/m);
    expect(readFileSync(join(cwd, 'pg_hba.conf'), 'utf8')).toMatch(/ tamis \S+ scram-sha-256$/m);
    expect(statSync(join(cwd, 'pgpass')).mode & 0o777).toBe(0o600);
    expect(args.slice(-2)).toEqual([cwd, '1.0-0-1']);
  });

  test('FerretDB gets its address with the password, in a file and not in its arguments', async () => {
    const bench = testBench(folder);
    const { cwd } = await postgres.launch(bench, home(), [5555], null);
    const ferretdb = { path: '/ferretdb', kind: 'ferretdb', label: '' };
    const needed = postgres.addresses([5555])['postgres'] ?? '';
    const { command, args, cwd: run } = await mongodb.launch(bench, ferretdb, [27017], needed);
    const password = readFileSync(join(cwd, 'pgpass'), 'utf8').trim().split(':').at(-1);
    const file = join(run, 'postgresql-url');
    const url = new URL(readFileSync(file, 'utf8'));
    expect([command, url.password, url.host]).toEqual(['/ferretdb', password, '127.0.0.1:5555']);
    expect(Number(url.searchParams.get('pool_max_conns'))).toBeGreaterThan(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(args.join(' ')).toContain('--listen-addr=127.0.0.1:27017');
    expect(args.join(' ')).not.toContain(password);
  });
});
