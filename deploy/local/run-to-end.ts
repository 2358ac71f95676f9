import { spawn } from 'node:child_process';
import { killGroup } from './kill-group.js';
import { identify } from './process-identity.js';

/**
 * Runs a program with our terminal until it ends and returns its exit code. Without a terminal it gets a group of
 * its own, which is ended as a whole; with one, Ctrl-C reaches it by itself and it may read the keyboard.
 */
export async function runToEnd(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal; quiet?: boolean },
): Promise<number> {
  options.signal.throwIfAborted();
  const detached = !process.stdin.isTTY;
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: options.quiet ? 'ignore' : 'inherit',
    detached,
  });
  const identity = child.pid === undefined ? null : identify(child.pid);
  const stop = () => {
    if (!identity) return;
    if (detached) void killGroup(identity, 10);
    else child.kill('SIGTERM');
  };
  options.signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    options.signal.removeEventListener('abort', stop);
    if (detached && identity) await killGroup(identity, 0);
  }
}
