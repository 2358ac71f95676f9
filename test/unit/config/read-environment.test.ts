import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { KNOWN_VARIABLES, SECRET_VARIABLES } from '../../../schemas/config/environment.js';
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

test('a secret may stand in a file, and only there', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'token');
  writeFileSync(path, 'a token with a blank \r\n\n');
  expect(readEnvironment({ AUTH_TOKEN_FILE: path, AUTH_TOKEN: '' }, folder)).toEqual({
    AUTH_TOKEN: 'a token with a blank ',
  });
  expect(() => readEnvironment({ AUTH_TOKEN_FILE: path, AUTH_TOKEN: 'x' }, folder)).toThrow(
    'AUTH_TOKEN and AUTH_TOKEN_FILE are both set',
  );
  writeFileSync(join(folder, '.env'), `AUTH_TOKEN=of .env\nAPI_KEY_FILE=${path}\n`);
  expect(readEnvironment({ AUTH_TOKEN_FILE: path, API_KEY: 'of the environment' }, folder)).toEqual({
    AUTH_TOKEN: 'a token with a blank ',
    API_KEY: 'of the environment',
  });
  rmSync(join(folder, '.env'));
  const missing = join(folder, 'missing');
  expect(() => readEnvironment({ SECRETS_KEY_FILE: missing }, folder)).toThrow(
    `SECRETS_KEY_FILE: ${missing} cannot be read`,
  );
  writeFileSync(path, '\n');
  expect(() => readEnvironment({ API_KEY_FILE: path }, folder)).toThrow(`API_KEY_FILE: ${path} is empty`);
  expect(readEnvironment({ PORT_FILE: path }, folder)).toEqual({ PORT_FILE: path });
});

test('every variable whose name speaks of a secret may be a file', () => {
  const named = KNOWN_VARIABLES.filter((name) => /(TOKEN|KEY|SECRET|PASSWORD)(_PREVIOUS)?$/.test(name));
  expect(named.filter((name) => !SECRET_VARIABLES.includes(name))).toEqual([]);
  expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(['MONGODB_URL', 'OPENSEARCH_URL', 'REDIS_URL']));
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
    // The mistake is named, without a trace of ours.
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(status).toBe(78);
  },
);
