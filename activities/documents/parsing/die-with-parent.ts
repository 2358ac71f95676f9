import { spawnSync } from 'node:child_process';

let works: boolean | undefined;

/**
 * What goes in front of a command so that the kernel kills it when the process that starts it dies; nothing where
 * that cannot be had. Signals of the kernel pass through `exec` and not on to what the command itself starts.
 */
export function dieWithParent(): string[] {
  const line = ['setpriv', '--pdeathsig', 'KILL', '--'];
  works ??=
    process.platform === 'linux' &&
    spawnSync(line[0]!, [...line.slice(1), 'true'], { stdio: 'ignore', timeout: 5000 }).status === 0;
  return works ? line : [];
}
