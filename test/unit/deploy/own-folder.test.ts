import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ownTemporaryFolder } from '../../../deploy/local/own-folder.js';
import { temporaryFolder } from './temporary-folder.js';

const { uid } = userInfo();
const root = uid === 0 ? test : test.skip;

describe('a folder in the temporary folder', () => {
  test('is of this user alone, and the same the next time', () => {
    const parent = temporaryFolder();
    const folder = ownTemporaryFolder('tamis-x', parent);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(ownTemporaryFolder('tamis-x', parent)).toBe(folder);
  });

  test('that is a link or a file is not used', () => {
    const parent = temporaryFolder();
    const elsewhere = temporaryFolder();
    symlinkSync(elsewhere, join(parent, `tamis-x-${uid}`));
    writeFileSync(join(parent, `tamis-y-${uid}`), '');
    for (const name of ['tamis-x', 'tamis-y']) {
      const folder = ownTemporaryFolder(name, parent);
      expect(basename(folder)).toMatch(new RegExp(`^${name}-${uid}-.+`));
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    }
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  root('that another user made is not used', () => {
    const parent = temporaryFolder();
    const theirs = join(parent, `tamis-x-${uid}`);
    mkdirSync(theirs, { mode: 0o777 });
    chownSync(theirs, 65534, 65534);
    expect(ownTemporaryFolder('tamis-x', parent)).not.toBe(theirs);
    expect(statSync(theirs).uid).toBe(65534);
  });
});

/** In a process of its own, since Jest's environment variables are not those that the temporary folder is read from. */
function inProcess<Told>(temporary: string, script: string): Told {
  return JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      env: { ...process.env, TMPDIR: temporary },
      encoding: 'utf8',
    }),
  ) as Told;
}

const USE_BOTH = `
  import { readdirSync, writeFileSync } from 'node:fs';
  import { join } from 'node:path';
  import { createScratchDirectory } from './activities/documents/parsing/scratch-directory.js';
  import { reservePort } from './deploy/local/free-port.js';
  await reservePort(null);
  const scratch = await createScratchDirectory('worker');
  writeFileSync(join(scratch, 'document'), '');
  console.log(JSON.stringify({ scratch, kept: readdirSync(process.env.TMPDIR) }));
`;

test('what others have prepared in the temporary folder is neither used nor in the way', () => {
  const theirs = temporaryFolder();
  const shared = temporaryFolder();
  for (const name of ['tamis-ports', `tamis-ports-${uid}`]) symlinkSync(theirs, join(shared, name));
  writeFileSync(join(shared, `tamis-worker-${uid}`), '');
  const { scratch, kept } = inProcess<{ scratch: string; kept: string[] }>(shared, USE_BOTH);
  expect(readdirSync(theirs)).toEqual([]);
  expect(readdirSync(scratch)).toEqual(['document']);
  expect(kept.filter((name) => name.startsWith(`tamis-ports-${uid}-`))).toHaveLength(1);
});

const WITHOUT_ACCOUNT = `
  import { syncBuiltinESMExports } from 'node:module';
  import os from 'node:os';
  os.userInfo = os.homedir = () => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  };
  syncBuiltinESMExports();
  const { reservePort } = await import('./deploy/local/free-port.js');
  const { pathsOf } = await import('./deploy/local/paths.js');
  const { port } = await reservePort(null);
  console.log(JSON.stringify({ port, cache: pathsOf({}).cache }));
`;

test('a user that the system has no account of gets ports, and a cache of its own', () => {
  const temporary = temporaryFolder();
  const { port, cache } = inProcess<{ port: number; cache: string }>(temporary, WITHOUT_ACCOUNT);
  expect(existsSync(join(temporary, `tamis-ports-${uid}`, String(port)))).toBe(true);
  expect(cache).toBe(join(temporary, `tamis-home-${uid}`, '.cache/tamis'));
});
