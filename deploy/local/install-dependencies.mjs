import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockMatches } from './lock-matches.mjs';

/**
 * `npm ci`, once at a time per clone, with a word every few seconds. Plain JavaScript without a package: it runs when
 * there is none.
 *
 * @param {string} root
 */
export async function installDependencies(root) {
  const local = join(root, '.local');
  mkdirSync(join(local, 'log'), { recursive: true });
  const busy = join(local, 'installing');
  for (let told = false; !claim(busy); told = true) {
    if (!told && holderOf(busy))
      console.log(`  … dependencies: process ${holderOf(busy)} is installing them`);
    await sleep(500);
  }
  try {
    if (!lockMatches(root)) await npmCi(root, join(local, 'log', 'npm-ci.log'));
  } finally {
    rmSync(busy, { force: true });
  }
}

/**
 * Two installations in one folder would delete each other's files. The file names the installing launcher and its
 * npm; where the launcher was killed, its npm may still be at work, and is ended before another one starts. One of our
 * own number is dead as well: in a container each launcher may have the same. That the file cannot be written (a full
 * disk, a read-only clone) is no sign of another launcher, and nothing to wait for.
 */
function claim(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') {
      rmSync(file, { force: true });
      console.error(`\n✗ dependencies: ${file} cannot be written: ${error.message}`);
      process.exit(1);
    }
    const [launcher, npm] = read(file).split(' ').map(Number);
    if (launcher === process.pid || !isRunning(launcher, 'run.mjs')) {
      if (isRunning(npm, 'npm')) endGroup(npm);
      rmSync(file, { force: true });
    }
    return false;
  }
}

/** The launcher that installs; 0: none does. */
function holderOf(file) {
  return Number(read(file).split(' ')[0]);
}

/** The pid alone could be someone else's by now: where the system tells, the command is compared too. */
function isRunning(pid, command) {
  if (!pid) return false;
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || read(`/proc/${pid}/cmdline`).includes(command);
  } catch {
    return false;
  }
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has just ended
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function npmCi(root, log) {
  const npm = process.env['npm_execpath'];
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const args = [...first, 'ci', '--include=dev', '--no-progress'];
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  console.log('  … dependencies: installing the exact versions of package-lock.json (npm ci, about 30 s)');
  const output = openSync(log, 'w');
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', output, output], detached: true });
  closeSync(output);
  const timer = setInterval(() => console.log(`    … dependencies: npm ci ${seconds()} s`), 15_000);
  const busy = join(root, '.local', 'installing');
  writeFileSync(busy, `${process.pid} ${child.pid}`);
  const stop = (signal) => {
    endGroup(child.pid);
    rmSync(busy, { force: true });
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  const problem = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)));
  });
  clearInterval(timer);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop);
  if (problem === null) {
    console.log(`  ✓ dependencies: installed (${seconds()} s)`);
    return;
  }
  const tail = read(log).trimEnd().split('\n').slice(-15);
  console.error(
    `\n✗ npm ci failed (${problem})\n  last lines of ${log}:\n${tail.map((line) => `    | ${line}`).join('\n')}`,
  );
  console.error('  → npm must reach a registry that has the exact versions of package-lock.json');
  process.exit(1);
}
