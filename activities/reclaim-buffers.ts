import { setFlagsFromString } from 'node:v8';

/** V8 13.6 raised the size from 8 to 32 MB; in Node since 24.0. */
const CHANGED_IN = 13;

/**
 * Has buffers that are no longer used given back by the quick collection of young objects, as in Node before 24. That
 * release let young buffers amount to 128 MB before it does, above the 64 MB at which the slow collection of
 * everything begins: an upload of 100 MB, read in chunks of 64 KiB, then raised the gateway by 70 to 108 MB (36 to 46
 * with this, 18 to 21 under Node 20). To be called once by a process that streams files, before it does.
 * @see https://github.com/nodejs/node/issues/61967
 */
export function reclaimBuffersEarly(): void {
  if (Number(process.versions.v8.split('.')[0]) < CHANGED_IN) return;
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=8');
}
