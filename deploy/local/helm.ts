import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIntoCache } from './build-into-cache.js';
import { lookForGo } from './find-go.js';
import { findProgram } from './find-program.js';
import { goProgress } from './go-progress.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

const SUBJECT = 'helm';
const VERSION = '3.19.5';
const BUILT = `helm-${VERSION}`;
/** From which modules exactly it is built. */
const MODULE_FILES = fileURLToPath(new URL('artifacts/helm/', import.meta.url));

/** Helm on PATH, kept from an earlier time, or built with Go; null: there is no Go to build it with. */
export async function obtainHelm(bench: Workbench): Promise<string | null> {
  const found = findProgram('helm', process.env, ['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin']);
  if (found !== null) return found;
  const kept = join(bench.paths.cache, BUILT, 'helm');
  if (existsSync(kept)) return kept;
  const go = await lookForGo();
  if (go === null) return null;
  const home = await buildIntoCache(bench, BUILT, SUBJECT, async (draft) => {
    bench.report.phase(SUBJECT, `building Helm ${VERSION} with Go`, 240);
    await runTool(bench, {
      subject: SUBJECT,
      command: go,
      args: [
        'build',
        '-v',
        '-mod=readonly',
        '-buildvcs=false',
        '-ldflags=-s -w',
        '-o',
        join(draft, 'helm'),
      ].concat('helm.sh/helm/v3/cmd/helm'),
      cwd: MODULE_FILES,
      env: { CGO_ENABLED: '0', GOWORK: 'off' },
      progress: goProgress,
      advice: ['Go could not build it: look at GOPROXY and GOFLAGS, or install Helm and have it on PATH'],
    });
  });
  return join(home, 'helm');
}
