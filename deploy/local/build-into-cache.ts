import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { lock } from './file-lock.js';
import { isAlive, ownIdentity } from './process-identity.js';
import type { Workbench } from './workbench.js';

/** Makes `<cache>/<name>` unless it is there, as `buildOnce` does. */
export function buildIntoCache(
  bench: Workbench,
  name: string,
  subject: string,
  build: (draft: string) => Promise<void>,
): Promise<string> {
  return buildOnce(bench, join(bench.paths.cache, name), subject, build);
}

/**
 * Makes the folder `target` unless it is there. The work happens in a draft folder that gets its name only when it is
 * complete: what bears the name can be trusted, whatever was killed before. One builder at a time over all launchers.
 */
export async function buildOnce(
  bench: Workbench,
  target: string,
  subject: string,
  build: (draft: string) => Promise<void>,
): Promise<string> {
  if (existsSync(target)) return target;
  const release = await lock(`${target}.lock`, {
    signal: bench.signal,
    onWait: (holder) =>
      bench.report.phase(subject, `waiting for another build of it (process ${holder?.pid})`),
  });
  const own = ownIdentity();
  const draft = `${target}.draft-${own.pid}-${own.started.replace(/\W/g, '-')}`;
  try {
    if (existsSync(target)) return target;
    sweepDrafts(target);
    mkdirSync(draft, { recursive: true });
    await build(draft);
    bench.signal.throwIfAborted();
    renameSync(draft, target);
    return target;
  } finally {
    rmSync(draft, { recursive: true, force: true });
    release();
  }
}

/** Removes what killed builders left. We hold the lock, so a draft of a live process is not a builder's. */
function sweepDrafts(target: string): void {
  const prefix = `${basename(target)}.draft-`;
  for (const entry of readdirSync(dirname(target))) {
    if (!entry.startsWith(prefix)) continue;
    const [pid = '', ...started] = entry.slice(prefix.length).split('-');
    if (!isAlive({ pid: Number(pid), started: started.join(':') })) {
      rmSync(join(dirname(target), entry), { recursive: true, force: true });
    }
  }
}
