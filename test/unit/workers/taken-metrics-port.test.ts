import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { devNull } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

const taken = createServer();
let port: number;
beforeEach(async () => {
  ({ port } = await listenOnLoopback(taken));
});
afterEach(() => endServer(taken));

test('a worker whose port for metrics is taken ends before it asks an engine for anything', () => {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const nowhere = '127.0.0.1:9';
  const { status, stderr } = spawnSync(process.execPath, ['--import', loader, 'workers/main.ts'], {
    cwd: root,
    env: {
      ...inherited,
      TAMIS_ENV_FILE: devNull,
      AUTH_TOKEN: 'the token of this stack',
      HOST: '127.0.0.1',
      WORKER_METRICS_PORT: String(port),
      MONGODB_URL: `mongodb://${nowhere}`,
      OPENSEARCH_URL: `http://${nowhere}`,
      TEMPORAL_ADDRESS: nowhere,
    },
    encoding: 'utf8',
  });
  expect(stderr).toContain(`EADDRINUSE: address already in use 127.0.0.1:${port}`);
  expect(status).toBe(1);
}, 60_000);
