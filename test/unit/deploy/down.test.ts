import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { down } from '../../../deploy/local/commands/down.js';
import { identify, isAlive } from '../../../deploy/local/process-identity.js';
import { until } from '../../support/until.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

/** Once asked to end it finishes some work, and writes down whether the service was there for it. */
const WORKER = `
const { writeFileSync } = require('node:fs');
const [service, ready, found] = process.argv.slice(1);
process.on('SIGTERM', () => setTimeout(() => {
  let there = true;
  try { process.kill(Number(service), 0); } catch { there = false; }
  writeFileSync(found, String(there));
  process.exit(0);
}, 500));
setInterval(() => undefined, 1000);
writeFileSync(ready, '');
`;

test('npm run down ends a worker whose launcher is gone before the services that it writes to', async () => {
  const folder = temporaryFolder();
  const bench = testBench(folder);
  const start = (kind: 'service' | 'app', name: string, args: string[]) => {
    const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore' });
    return once(child, 'spawn').then(async () => {
      const entry = { ...identify(child.pid!)!, kind, kept: false, ports: [] };
      await bench.record.change(({ processes }) => void (processes[name] = entry));
      return entry;
    });
  };
  const service = await start('service', 'mongodb', ['-e', 'setInterval(() => undefined, 1000)']);
  const [ready, found] = [join(folder, 'ready'), join(folder, 'found')];
  const worker = await start('app', 'worker', ['-e', WORKER, String(service.pid), ready, found]);
  await until('the worker listens to signals', async () => existsSync(ready));
  expect(await down(bench)).toBe(0);
  expect([service, worker].filter(isAlive)).toEqual([]);
  expect(readFileSync(found, 'utf8')).toBe('true');
}, 60_000);
