import { getPriority, setPriority } from 'node:os';

/**
 * Gives way to what people wait for, where gateway, engines and worker share a machine. To be called before any thread
 * of ours starts: on Linux a thread inherits it from the one that made it. Nothing is raised: whoever started us at a
 * lower priority meant it.
 */
export const setNiceness = (niceness: number): void => {
  if (niceness > getPriority()) setPriority(niceness);
};
