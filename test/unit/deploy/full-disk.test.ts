import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { down } from '../../../deploy/local/commands/down.js';
import { ManagedProcess } from '../../../deploy/local/managed-process.js';
import { identify, isAlive } from '../../../deploy/local/process-identity.js';
import { Stack } from '../../../deploy/local/stack.js';
import type { Workbench } from '../../../deploy/local/workbench.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

const SLEEP = ['-e', 'setInterval(() => undefined, 1000)'];

/** From now on the record can be read and not be written. */
function fill({ record }: Workbench): void {
  record.change = () => Promise.reject(new Error('ENOSPC: no space left on device, write'));
}

function sleeper(bench: Workbench, name: string, ready: () => boolean = () => true): ManagedProcess {
  return new ManagedProcess(bench, {
    name,
    kind: 'app',
    command: process.execPath,
    args: SLEEP,
    cwd: bench.paths.root,
    env: process.env,
    log: join(bench.paths.logs, `${name}.log`),
    ports: [],
    readySeconds: 20,
    expectedSeconds: 1,
    stopSeconds: 1,
    ready: async () => ready(),
    answers: async () => true,
    advice: [],
  });
}

describe('where the record cannot be written', () => {
  test('all that a command runs ends all the same, and it is said once', async () => {
    const bench = testBench(temporaryFolder());
    const stack = new Stack(bench);
    await stack.run(sleeper(bench, 'gateway'));
    await stack.run(sleeper(bench, 'worker'));
    const running = Object.values(bench.record.read().processes);
    expect(running.filter(isAlive)).toHaveLength(2);
    fill(bench);
    await stack.close({});
    expect(running.filter(isAlive)).toEqual([]);
    expect(bench.said.filter((text) => text.includes('ENOSPC'))).toHaveLength(1);
  });

  test('a start that fails tells its own reason', async () => {
    const bench = testBench(temporaryFolder());
    const started = sleeper(bench, 'worker', () => {
      fill(bench);
      process.kill(bench.record.read().processes['worker']!.pid, 'SIGKILL');
      return false;
    }).start();
    await expect(started).rejects.toThrow('ended before it was ready');
  });

  test('npm run down ends what is there', async () => {
    const bench = testBench(temporaryFolder());
    const child = spawn(process.execPath, SLEEP, { detached: true, stdio: 'ignore' });
    await once(child, 'spawn');
    const entry = { ...identify(child.pid!)!, kind: 'service' as const, kept: false, ports: [] };
    await bench.record.change(({ processes }) => void (processes['mongodb'] = entry));
    fill(bench);
    expect(await down(bench)).toBe(1);
    expect(isAlive(entry)).toBe(false);
    expect(bench.said.join('\n')).toContain('ENOSPC');
  });
});
