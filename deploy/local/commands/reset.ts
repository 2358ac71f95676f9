import { rmSync } from 'node:fs';
import type { Workbench } from '../workbench.js';
import { down } from './down.js';

/** `down`, and this clone's data, logs and secrets are gone; programs in the cache stay. */
export async function reset(bench: Workbench): Promise<number> {
  await down(bench);
  rmSync(bench.paths.local, { recursive: true, force: true });
  bench.report.say(`Deleted ${bench.paths.local}.`);
  return 0;
}
