import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread.
 * @param program the file with its program, without its ending, as it is seen from the file that asks
 * @param from `import.meta.url` of the file that asks
 */
export function openThread(program: string, from: string, options: WorkerOptions = {}): Worker {
  if (!from.endsWith('.ts')) return new Worker(new URL(`${program}.js`, from), options);
  // A clone runs its sources. Node 20 leaves the loader of `--import` out of a thread's first file.
  const source = JSON.stringify(new URL(`${program}.ts`, from).href);
  const tsx = dirname(createRequire(import.meta.url).resolve('tsx/esm/api'));
  const loader = JSON.stringify(pathToFileURL(join(tsx, 'index.mjs')).href);
  const start = `void import(${loader}).then(({ register }) => (register(), import(${source})));`;
  return new Worker(start, { ...options, eval: true });
}
