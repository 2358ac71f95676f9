import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { killGroup } from '../../../deploy/local/kill-group.js';
import { identify, isAlive, ownIdentity } from '../../../deploy/local/process-identity.js';

function sleeper(script = 'setInterval(() => {}, 1000)') {
  const child = spawn(process.execPath, ['-e', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const identity = identify(child.pid ?? 0);
  if (!identity) throw new Error('the child did not start');
  return { child, identity };
}

test('this process is alive, the same pid with another start time is someone else', () => {
  expect(isAlive(ownIdentity())).toBe(true);
  expect(isAlive({ pid: process.pid, started: 'long ago' })).toBe(false);
  expect(identify(0)).toBeNull();
  expect(identify(2 ** 22 + 1)).toBeNull();
});

const IDENTIFY = `
  import { identify } from './deploy/local/process-identity.js';
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  console.log(identify(${process.pid})?.started);
`;

/** Where `ps` is asked; in a process of its own, since Jest's environment variables are not those that `ps` gets. */
function startedBy(ps: NodeJS.ProcessEnv): string {
  return execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', IDENTIFY], {
    env: { ...process.env, ...ps },
    encoding: 'utf8',
  });
}

test('a process is the same after a change of time zone', () => {
  const started = startedBy({ TZ: 'UTC' });
  expect(started).toMatch(/\d\d:\d\d:\d\d/);
  expect(startedBy({ TZ: 'Asia/Tokyo' })).toBe(started);
});

test('a process that only bears a remembered pid is not killed', async () => {
  const { child, identity } = sleeper();
  await killGroup({ pid: identity.pid, started: 'another time' }, 1);
  expect(isAlive(identity)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isAlive(identity)).toBe(false);
});

test('a process that does not listen to reason is ended after the grace time', async () => {
  const { child, identity } = sleeper(
    "process.on('SIGTERM', () => {}); process.stdout.write('ready'); setInterval(() => {}, 1000)",
  );
  const gone = once(child, 'exit');
  await once(child.stdout, 'data');
  await killGroup(identity, 0.2);
  expect(await gone).toEqual([null, 'SIGKILL']);
});
