import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildIntoCache } from './build-into-cache.js';
import { killGroup } from './kill-group.js';
import { identify, isAlive } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';
import { TOOL } from './run-record.js';
import type { Workbench } from './workbench.js';

const FIRST_BYTES_SECONDS = 5;
const STALL_SECONDS = 20;
const START_SECONDS = 30;

/**
 * Lets a downloader (see `downloader.ts`) fill `<cache>/<name>`. It runs as a process of its own that is ended when
 * no byte has arrived after a few seconds: the libraries themselves may retry for minutes on a machine without an
 * open network. Null: no download to be had.
 */
export async function downloadIntoCache(
  bench: Workbench,
  what: 'temporal' | 'temporal-test-server' | 'mongod',
  name: string,
  subject: string,
): Promise<string | null> {
  if (existsSync(join(bench.paths.cache, name))) return join(bench.paths.cache, name);
  try {
    return await buildIntoCache(bench, name, subject, async (draft) => {
      if (!(await watch(bench, what, draft))) throw new NoDownload();
    });
  } catch (error) {
    if (error instanceof NoDownload) return null;
    throw error;
  }
}

class NoDownload extends Error {}

async function watch(bench: Workbench, what: string, folder: string): Promise<boolean> {
  mkdirSync(bench.paths.logs, { recursive: true });
  const log = join(bench.paths.logs, `download-${what}.log`);
  const output = openSync(log, 'w');
  const script = fileURLToPath(new URL('downloader.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, what, folder], {
    cwd: bench.paths.root,
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  let code: number | null = null;
  child.once('exit', (status) => (code = status));
  child.once('error', () => undefined);
  const identity = child.pid === undefined ? null : identify(child.pid);
  if (!identity) return false;
  const recorded = `download-${what}`;
  await bench.record.change(({ processes }) => void (processes[recorded] = { ...identity, ...TOOL }));
  try {
    await untilDoneOrStalled(bench, identity, folder, log);
    await sleep(100); // for the exit event
    return code === 0;
  } finally {
    await killGroup(identity, 1);
    await bench.record.change(({ processes }) => void delete processes[recorded]);
  }
}

/** The downloader's first word (in its log) starts the clock: until then it only loads its libraries. */
async function untilDoneOrStalled(
  bench: Workbench,
  child: ProcessIdentity,
  folder: string,
  log: string,
): Promise<void> {
  let bytes = 0;
  let lastGrowth = Date.now() + (START_SECONDS - FIRST_BYTES_SECONDS) * 1000;
  let asking = false;
  while (isAlive(child)) {
    await sleep(250, undefined, { signal: bench.signal });
    if (!asking && statSync(log).size > 0) {
      asking = true;
      lastGrowth = Date.now();
    }
    const now = sizeOf(folder);
    if (now > bytes) lastGrowth = Date.now();
    bytes = now;
    const timeoutSeconds = bytes > 0 ? STALL_SECONDS : FIRST_BYTES_SECONDS;
    if (Date.now() - lastGrowth > timeoutSeconds * 1000) return;
  }
}

function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.reduce(
    (sum, entry) => sum + (entry.isFile() ? fileSize(join(entry.parentPath, entry.name)) : 0),
    0,
  );
}

function fileSize(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0; // renamed meanwhile
  }
}
