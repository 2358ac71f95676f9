import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';

/**
 * Ends a process that leads its own group, and the whole group: asked first, forced after `graceSeconds`. Someone
 * else's process that got the number later is left alone.
 */
export async function killGroup(leader: ProcessIdentity, graceSeconds: number): Promise<void> {
  if (!isAlive(leader)) return;
  signalGroup(leader.pid, 'SIGTERM');
  const deadline = Date.now() + graceSeconds * 1000;
  while (Date.now() < deadline) {
    if (!isAlive(leader)) break;
    await sleep(50);
  }
  // also after a leader that went by itself: what it started may have stayed
  signalGroup(leader.pid, 'SIGKILL');
  while (isAlive(leader)) await sleep(20);
}

/** Signals the group, and is content when there is none any more. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    try {
      process.kill(pid, signal);
    } catch {
      // gone
    }
  }
}
