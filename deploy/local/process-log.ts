import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { tryLock } from './file-lock.js';

export const LOG_LIMIT = 10 * 1024 * 1024;

/** For a process that is about to start, at the end of what earlier ones wrote or, where that is much, anew. */
export function openLog(log: string, name: string): { output: number; size: number } {
  mkdirSync(dirname(log), { recursive: true });
  const size = sizeOf(log);
  if (size > LOG_LIMIT) renameSync(log, `${log}.1`);
  const output = openSync(log, 'a');
  try {
    writeSync(output, `--- ${name} started ${new Date().toISOString()}\n`);
  } catch {
    // A full disk is no reason not to start.
  }
  return { output, size: size > LOG_LIMIT ? 0 : size };
}

/**
 * Where the log of a process that runs is above the limit, its end is moved aside, and the process, which appends,
 * goes on at its beginning. What cannot be kept is lost: a full disk would stop the stores. True: it begins anew.
 */
export function boundLog(log: string, limit = LOG_LIMIT): boolean {
  if (sizeOf(log) <= limit) return false;
  try {
    // Another launcher may watch the same process.
    const release = tryLock(`${log}.lock`);
    if (release === null) return false;
    try {
      return sizeOf(log) > limit && beginAnew(log, limit);
    } finally {
      release();
    }
  } catch {
    return false;
  }
}

function beginAnew(log: string, limit: number): true {
  try {
    writeFileSync(`${log}.1`, readEnd(log, limit));
  } finally {
    truncateSync(log);
  }
  return true;
}

export function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

/** At most so many bytes of the end of a file, none before `from`, unless it was cut since. */
export function readEnd(file: string, bytes: number, from = 0): Buffer {
  const opened = openSync(file, 'r');
  try {
    const { size } = fstatSync(opened);
    const begin = Math.max(from > size ? 0 : from, size - bytes);
    const end = Buffer.alloc(size - begin);
    readSync(opened, end, 0, end.length, begin);
    return end;
  } finally {
    closeSync(opened);
  }
}
