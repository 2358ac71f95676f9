import { obtainOgx } from '../ogx.js';
import type { Workbench } from '../workbench.js';
import { bench } from './bench.js';

/** Tamis and OGX side by side, with the same model server. Arguments are those of `test/bench/peers.ts`. */
export function benchPeers(workbench: Workbench, args: readonly string[]): Promise<number> {
  return bench('test/bench/peers.ts', { demanded: ['ollama'], obtain: obtainOgx })(workbench, args);
}
