import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

const made: string[] = [];

// Not after each test: hooks run in the order in which they were defined, so this one would come before the file's
// own, which end the processes that still write here.
afterAll(() => {
  for (const folder of made.splice(0)) {
    // A process that was just ended may still be writing its last line.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
});

/** An empty folder that is gone after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tamis-unit-'));
  made.push(folder);
  return folder;
}
