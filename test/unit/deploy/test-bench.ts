import { join } from 'node:path';
import type { Reporter } from '../../../deploy/local/reporter.js';
import { RunRecord } from '../../../deploy/local/run-record.js';
import type { Workbench } from '../../../deploy/local/workbench.js';

/** A workbench in a folder of its own that remembers what it said. */
export function testBench(
  folder: string,
  signal = new AbortController().signal,
): Workbench & { said: string[] } {
  const said: string[] = [];
  const report: Reporter = {
    phase: (subject, text) => void said.push(`${subject}: ${text}`),
    done: (subject, text) => void said.push(`${subject}: ${text}`),
    detail: () => undefined,
    gone: () => undefined,
    say: (text) => void said.push(text),
    close: () => undefined,
  };
  const local = join(folder, '.local');
  const paths = { root: folder, local, logs: join(local, 'log'), cache: join(folder, 'cache') };
  return { paths, settings: {}, record: new RunRecord(local), report, signal, said };
}
