import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { readEnvironment } from '../../../schemas/config/read-environment.js';
import { temporaryFolder } from '../deploy/temporary-folder.js';

test('the environment wins over .env, and an empty value counts as unset in both', () => {
  const folder = temporaryFolder();
  const lines = [
    '# a comment',
    'AUTH_TOKEN=',
    'CHUNK_SIZE=256',
    'MODEL="a b # c"',
    'PORT=9000',
    'LOG_LEVEL=debug',
  ];
  writeFileSync(join(folder, '.env'), lines.join('\n'));
  expect(readEnvironment({ PORT: '9001', LOG_LEVEL: '' }, folder)).toEqual({
    CHUNK_SIZE: '256',
    MODEL: 'a b # c',
    PORT: '9001',
    LOG_LEVEL: 'debug',
  });
});

test('no .env is no fault; a file that cannot be read, or that was named and is not there, is one', () => {
  const folder = temporaryFolder();
  expect(readEnvironment({ A: 'b' }, folder)).toEqual({ A: 'b' });
  const elsewhere = join(folder, 'elsewhere');
  expect(() => readEnvironment({ TAMIS_ENV_FILE: elsewhere }, folder)).toThrow(elsewhere);
  mkdirSync(join(folder, '.env'));
  expect(() => readEnvironment({}, folder)).toThrow(/\.env cannot be read/);
  expect(readEnvironment({ TAMIS_ENV_FILE: devNull }, folder)).toEqual({ TAMIS_ENV_FILE: devNull });
});

const root = fileURLToPath(new URL('../../..', import.meta.url));
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

test.each(['api/main.ts', 'workers/main.ts', 'deploy/cli/check-stores.ts'])(
  '%s reads .env of its working directory',
  (script) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.env'), 'CHUNK_SIZE=many\nPARSE_TIMEOUT=long\n');
    const { NODE_OPTIONS: _, TAMIS_ENV_FILE: __, ...inherited } = process.env;
    const { status, stderr } = spawnSync(process.execPath, ['--import', loader, join(root, script)], {
      cwd: folder,
      env: { ...inherited, PARSE_TIMEOUT: '60' },
      encoding: 'utf8',
    });
    expect(stderr).toContain('CHUNK_SIZE: ');
    expect(stderr).not.toContain('PARSE_TIMEOUT');
    expect(status).not.toBe(0);
  },
);
