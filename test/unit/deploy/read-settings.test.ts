import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readSettings } from '../../../deploy/local/read-settings.js';
import { temporaryFolder } from './temporary-folder.js';

test('the environment wins over .env, and an empty value counts as unset in both', () => {
  const root = temporaryFolder();
  writeFileSync(
    join(root, '.env'),
    ['# a comment', 'AUTH_TOKEN=', 'CHUNK_SIZE=256', 'MODEL="a b # c"', 'PORT=9000', 'LOG_LEVEL=debug'].join(
      '\n',
    ),
  );
  expect(readSettings(root, { PORT: '9001', LOG_LEVEL: '' })).toEqual({
    CHUNK_SIZE: '256',
    MODEL: 'a b # c',
    PORT: '9001',
    LOG_LEVEL: 'debug',
  });
});

test('no .env is no fault', () => {
  expect(readSettings(temporaryFolder(), { A: 'b' })).toEqual({ A: 'b' });
});
