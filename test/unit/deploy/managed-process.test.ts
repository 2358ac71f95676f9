import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../../deploy/local/clock.js';
import type { LauncherError } from '../../../deploy/local/launcher-error.js';
import { ManagedProcess } from '../../../deploy/local/managed-process.js';
import type { ProcessPlan } from '../../../deploy/local/managed-process.js';
import { isAlive } from '../../../deploy/local/process-identity.js';
import { until } from '../../support/until.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

/** Says that it is up, and touches the file `alive` in its folder as long as it runs. */
const UP = `
const { writeFileSync } = require('node:fs');
setInterval(() => writeFileSync('alive', ''), 20);
console.log('up');`;

/** Time passes a number of times as fast as it does, for pauses and limits of seconds. */
function fastClock(factor: number): Clock {
  return {
    now: () => performance.now() * factor,
    sleep: (ms, signal) => delay(ms / factor, undefined, signal === undefined ? {} : { signal }),
  };
}

/** Of the logs here, in bytes. */
const LOG_LIMIT = 20_000;

const supervised: ManagedProcess[] = [];
afterEach(async () => {
  await Promise.all(supervised.splice(0).map((managed) => managed.stop()));
});

function worker(script: string, changes: Partial<ProcessPlan> = {}, clock: Clock = fastClock(10)) {
  const bench = testBench(temporaryFolder());
  const log = join(bench.paths.logs, 'worker.log');
  const alive = join(bench.paths.root, 'alive');
  const plan: ProcessPlan = {
    name: 'worker',
    kind: 'app',
    command: process.execPath,
    args: ['-e', script],
    cwd: bench.paths.root,
    env: process.env,
    log,
    ports: [],
    readySeconds: 200,
    expectedSeconds: 1,
    stopSeconds: 1,
    ready: async (from) => readFileSync(log, 'utf8').slice(from).includes('\nup'),
    answers: async () => Date.now() - statSync(alive).mtimeMs < 300,
    advice: ['look into it'],
    ...changes,
  };
  let givenUp: LauncherError | null = null;
  const create = () => {
    const managed = new ManagedProcess(bench, plan, { clock, logLimit: LOG_LIMIT });
    supervised.push(managed);
    return managed;
  };
  const managed = create();
  const supervise = (canStart = () => true) =>
    managed.supervise({ canStart, onGivenUp: (reason) => void (givenUp = reason) });
  const recorded = () => bench.record.read().processes['worker'] ?? null;
  const pid = () => {
    const known = recorded();
    if (known === null) throw new Error('it is not recorded');
    return known.pid;
  };
  const said = () => bench.said.join('\n');
  const backTimes = (times: number) =>
    until(
      `it came back ${times} times`,
      async () => bench.said.filter((text) => text === 'worker: is back').length === times,
    );
  return { bench, managed, create, supervise, recorded, pid, said, backTimes, givenUp: () => givenUp };
}

describe('a supervised process', () => {
  test('is started again when it dies, the record follows, and stopping leaves nothing', async () => {
    let prepared = 0;
    const { bench, managed, supervise, recorded, pid, said, backTimes } = worker(UP, {
      prepare: () => void (prepared += 1),
    });
    await managed.start();
    supervise();
    const first = pid();
    process.kill(first, 'SIGKILL');
    await backTimes(1);
    const second = recorded();
    expect(second?.pid).not.toBe(first);
    expect(prepared).toBe(2);
    expect(said()).toMatch(
      /! worker ended \(SIGKILL\); it is started again in 0.5 s; the end of .*worker.log:\n +\| /,
    );
    await managed.stop();
    expect(second && isAlive(second)).toBe(false);
    expect(bench.record.read().processes).toEqual({});
  });

  test('is ended and started again when it was halted', async () => {
    const { managed, supervise, recorded, pid, said, backTimes } = worker(UP);
    await managed.start();
    supervise();
    const first = recorded();
    process.kill(pid(), 'SIGSTOP');
    await backTimes(1);
    expect(said()).toMatch(
      /! worker has not answered for \d+ s \(it was halted\); it is started again in 0.5 s/,
    );
    expect(first && isAlive(first)).toBe(false);
    expect(pid()).not.toBe(first?.pid);
  });

  test('is ended and started again when it runs and answers nothing', async () => {
    // without the file from the second on, until it is started again
    const mute = `${UP} setTimeout(() => { for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }, 200);`;
    const { bench, managed, supervise, said, backTimes } = worker(
      `if (require('node:fs').existsSync('mended')) { ${UP} } else { ${mute} }`,
    );
    await managed.start();
    writeFileSync(join(bench.paths.root, 'mended'), '');
    supervise();
    await backTimes(1);
    expect(said()).toMatch(/! worker has not answered for \d+ s; it is started again/);
  });

  test('that never comes back is given up after five tries, with its last words', async () => {
    const { bench, managed, supervise, recorded, pid, said, givenUp } = worker(
      `if (require('node:fs').existsSync('broken')) { console.error('no space left on device'); process.exit(4); } ${UP}`,
      {},
      fastClock(100),
    );
    await managed.start();
    supervise();
    writeFileSync(join(bench.paths.root, 'broken'), '');
    process.kill(pid(), 'SIGKILL');
    await until('it is given up', async () => givenUp() !== null);
    expect(said().match(/it is started again in [\d.]+ s/g)).toEqual(
      ['0.5', '2', '5', '15', '30'].map((pause) => `it is started again in ${pause} s`),
    );
    expect(givenUp()?.explain()).toMatch(
      /worker does not stay up: it was started again 5 times, and last it ended before it was ready[^]*no space left on device[^]*→ nothing was deleted[^]*→ look into it/,
    );
    expect(recorded()).toBeNull();
  });

  test('that comes up and dies again and again is given up too', async () => {
    const { managed, supervise, said, givenUp } = worker(`${UP} setTimeout(() => process.exit(5), 50);`);
    await managed.start();
    supervise();
    await until('it is given up', async () => givenUp() !== null);
    expect(said().match(/worker: is back/g)).toHaveLength(5);
    expect(givenUp()?.message).toContain('last it ended (exit code 5)');
  });

  test('that ran out of memory is told with the setting that bounds it', async () => {
    const { bench, managed, supervise, said, backTimes } = worker(
      `if (require('node:fs').existsSync('enough')) { ${UP} } else { ${UP}
        const kept = []; setTimeout(() => { for (;;) kept.push(new Array(10000).fill(kept.length)); }, 50); }`,
      {
        memory: { variable: 'WORKER_HEAP_MB', megabytes: 16 },
        env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=16' },
      },
    );
    await managed.start();
    writeFileSync(join(bench.paths.root, 'enough'), '');
    supervise();
    await backTimes(1);
    expect(said()).toContain('it ran out of memory: raise WORKER_HEAP_MB (now 16); it is started again');
  });

  test('is not started again before what it needs is there', async () => {
    let isThere = false;
    let asked = 0;
    const { managed, supervise, recorded, pid, backTimes } = worker(UP);
    await managed.start();
    supervise(() => {
      asked += 1;
      return isThere;
    });
    process.kill(pid(), 'SIGKILL');
    await until('it is asked for often', async () => asked > 5);
    expect(recorded()).toBeNull();
    expect(managed.isRestarting).toBe(true);
    isThere = true;
    await backTimes(1);
    expect(managed.isRestarting).toBe(false);
  });

  test('that two launchers watch is started again by one of them and taken over by the other', async () => {
    const starts = `require('node:fs').appendFileSync('starts', 'x'); ${UP}`;
    const { bench, managed, create, supervise, recorded, pid, backTimes, givenUp } = worker(starts);
    await managed.start();
    const other = create();
    const running = recorded();
    if (running) other.adopt(running);
    supervise();
    other.supervise({ onGivenUp: () => undefined });
    process.kill(pid(), 'SIGKILL');
    await backTimes(2);
    expect(readFileSync(join(bench.paths.root, 'starts'), 'utf8')).toBe('xx');
    expect(givenUp()).toBeNull();
  });

  test('whose log has grown long goes on in an empty one', async () => {
    const { bench, managed, supervise, pid } = worker(
      `${UP} setInterval(() => console.log('asked '.repeat(100)), 1);`,
    );
    await managed.start();
    const first = pid();
    supervise();
    const log = join(bench.paths.logs, 'worker.log');
    await until('its log is moved aside', async () => existsSync(`${log}.1`));
    await until('it has written since', async () => readFileSync(log, 'utf8').includes('asked'));
    expect(statSync(`${log}.1`).size).toBe(LOG_LIMIT);
    expect(readFileSync(log, 'utf8')).not.toContain('--- worker started');
    expect(readFileSync(log, 'utf8')).not.toContain('\0');
    expect(pid()).toBe(first);
  });

  test('is left running, unwatched, when it is left', async () => {
    const { bench, managed, create, supervise, recorded, said } = worker(UP);
    await managed.start();
    supervise();
    await managed.leave();
    const left = recorded();
    expect(left && isAlive(left)).toBe(true);
    expect(said()).not.toContain('!');
    const next = create();
    if (left) next.adopt(left);
    await next.stop();
    expect(existsSync(bench.paths.root) && recorded()).toBeNull();
  });
});

test('one that ends before it is ready is told with its last words', async () => {
  const { bench, managed } = worker("console.error('PORT must be a number'); process.exit(1)");
  const error = (await managed.start().catch((reason: unknown) => reason)) as LauncherError;
  expect(error.explain()).toMatch(
    /worker ended before it was ready[^]*PORT must be a number[^]*→ look into it/,
  );
  expect(bench.record.read().processes).toEqual({});
});

test('one that never answers is given up and ended', async () => {
  const { bench, managed } = worker('setInterval(() => {}, 1000)', { readySeconds: 5 });
  await expect(managed.start()).rejects.toThrow('worker gave no answer');
  expect(bench.record.read().processes).toEqual({});
});
