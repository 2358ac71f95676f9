import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../deploy/temporary-folder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** In the place of curl: notes its arguments, fails where a file that it should send is not there, gives a token. */
const CURL = `#!/usr/bin/env node
const { accessSync, appendFileSync } = require('node:fs');
const given = process.argv.slice(2);
for (const [, file] of given.join('\\n').matchAll(/^\\w+=@(.+)$/gm)) accessSync(file);
appendFileSync(process.env.ASKED, JSON.stringify(given) + '\\n');
console.log('{"token":"of a login"}');
`;

/** A clone in which `npm start` runs. */
function clone(): string {
  const folder = temporaryFolder();
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'));
  mkdirSync(join(folder, '.local'));
  const endpoints = { auth_token: 'of the clone', dashboard_key: 'key of the clone' };
  writeFileSync(join(folder, '.local/endpoints.json'), JSON.stringify(endpoints));
  return folder;
}

test("README's requests work as they stand, one after the other", () => {
  const typed = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)];
  const programs = temporaryFolder();
  writeFileSync(join(programs, 'curl'), CURL, { mode: 0o755 });
  const asked = join(programs, 'asked');
  const { stderr, status } = spawnSync('sh', ['-eu', '-c', typed.map(([, text]) => text).join('')], {
    cwd: clone(),
    env: { PATH: `${programs}${delimiter}${process.env['PATH']}`, ASKED: asked },
    encoding: 'utf8',
  });
  expect([stderr, status]).toEqual(['', 0]);

  const requests = readFileSync(asked, 'utf8').trim().split('\n');
  const credentials = requests.flatMap(
    (line) => (JSON.parse(line) as string[]).find((text) => /^(?:Authorization|X-Api-Key):/.test(text)) ?? [],
  );
  expect(new Set(credentials)).toEqual(
    new Set([
      'Authorization: Bearer of the clone',
      'Authorization: Bearer of a login',
      'X-Api-Key: key of the clone',
    ]),
  );
  // The login alone needs none.
  expect(credentials).toHaveLength(requests.length - 1);
});
