import { setFlagsFromString } from 'node:v8';

/** V8 13.6 raised the size from 8 to 32 MB; in Node since 24.0. */
const CHANGED_IN = 13;

/**
 * How far a heap grows by what is no longer used before the slow collection of everything, in percent of what is used.
 * By itself V8 lets a small heap grow to four times on a machine with much memory: a worker that indexed rose from 300
 * to 530 MiB and stays below 345 with this, for the same processor time.
 */
const GROWTH_PERCENT = 40;

/**
 * Settings of V8 for a process that lives long, in all its threads. To be called once, before its heaps grow.
 *
 * Beside `GROWTH_PERCENT`, buffers that are no longer used are given back by the quick collection of young objects, as
 * in Node before 24. That release let young buffers amount to 128 MB before it does, above the 64 MB at which the slow
 * collection begins: an upload of 100 MB, read in chunks of 64 KiB, then raised the gateway by 70 to 108 MB (36 to 46
 * with this, 18 to 21 under Node 20).
 * @see https://github.com/nodejs/node/issues/61967
 */
export function keepMemoryLow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  if (Number(process.versions.v8.split('.')[0]) < CHANGED_IN) return;
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=8');
}
