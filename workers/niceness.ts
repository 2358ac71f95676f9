import { getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority below the gateway and the engines where they share a machine with the worker. To be called before
 * any thread of ours starts: on Linux a thread inherits it from the one that made it. Nothing is raised: a process
 * started at a lower priority keeps it.
 */
export function setNiceness(niceness: number): void {
  if (niceness > getPriority()) setPriority(niceness);
}
