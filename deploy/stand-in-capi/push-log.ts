import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import type { Fault } from './behaviour.js';

/** One push of signals as the stand-in saw it. */
export interface PushRecord {
  /** Counts from 1, over all watchers and restarts. */
  batch: number;
  watcher: string;
  version: 'v2' | 'v3';
  at: string;
  /** Whether the signals are now CAPI's. */
  taken: boolean;
  /** The status that left; null when no status line did. */
  answered: number | null;
  fault: Fault['kind'] | null;
  /** Of the body, to tell a byte-identical repeat. */
  sha256: string;
  bytes: number;
  /** The signals, parsed; empty for a body that is none. */
  items: unknown[];
}

/** Every push in order, in memory and, with a file, on disk as JSON lines, so that a restart forgets nothing. */
export function createPushLog(file: string | undefined) {
  const records: PushRecord[] = file === undefined ? [] : readRecords(file);
  return {
    add(body: string, record: Omit<PushRecord, 'batch' | 'at' | 'sha256' | 'bytes'>): void {
      const complete: PushRecord = {
        batch: records.length + 1,
        at: new Date().toISOString(),
        sha256: createHash('sha256').update(body).digest('hex'),
        bytes: Buffer.byteLength(body),
        ...record,
      };
      // Before the answer leaves, in one write: what was answered is on record whatever happens next.
      if (file !== undefined) appendFileSync(file, `${JSON.stringify(complete)}\n`);
      records.push(complete);
    },
    list: (filter: { watcher?: string | undefined; taken?: boolean | undefined } = {}): PushRecord[] =>
      records.filter(
        (record) =>
          (filter.watcher === undefined || record.watcher === filter.watcher) &&
          (filter.taken === undefined || record.taken === filter.taken),
      ),
  };
}

export type PushLog = ReturnType<typeof createPushLog>;

function readRecords(file: string): PushRecord[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as PushRecord);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
