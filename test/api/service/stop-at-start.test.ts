import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { devNull } from 'node:os';
import { expect, it } from '@jest/globals';
import { listenOnLoopback } from '../../support/loopback-server.js';

it('a gateway that gets SIGTERM while it waits for MongoDB ends at once', async () => {
  // It takes connections and never says a word.
  const silent = createServer(() => undefined);
  const asked = once(silent, 'connection');
  const { port } = await listenOnLoopback(silent);
  const gateway = spawn(process.execPath, ['--import', 'tsx', 'api/main.ts'], {
    env: {
      PATH: process.env['PATH'],
      TAMIS_ENV_FILE: devNull,
      MONGODB_URL: `mongodb://127.0.0.1:${port}`,
      PORT: '0',
    },
    stdio: 'ignore',
  });
  const ended = once(gateway, 'exit');
  await Promise.race([asked, ended]);
  gateway.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  silent.close();
}, 60_000);
