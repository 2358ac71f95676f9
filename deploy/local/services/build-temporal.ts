import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIntoCache } from '../build-into-cache.js';
import { findGo } from '../find-go.js';
import { goProgress } from '../go-progress.js';
import { runTool } from '../run-tool.js';
import type { Workbench } from '../workbench.js';

const MODULE_FILES = fileURLToPath(new URL('../artifacts/temporal-cli/', import.meta.url));

/** Part of a build's name: the module file decides it for every program. */
export const DRIVER = 'sqlite-1.44.3';

interface GoProgram {
  /** Of the folder in the cache. */
  readonly name: string;
  /** Of the file in it. */
  readonly file: string;
  readonly module: string;
  readonly ldflags?: string;
  /** Said while it is built. */
  readonly what: string;
  readonly expectedSeconds: number;
  /** What one can do where there is no Go. */
  readonly advice: readonly string[];
}

/**
 * A program of Temporal's, built from exactly the modules that `artifacts/temporal-cli/go.mod` names. Newer versions of
 * the CLI carry replace directives and cannot be built as a dependency. Its own choice of SQLite driver (1.34.1) can
 * remain "interrupted" for ever after one cancelled request, with all of the server's work at a standstill; the
 * server's authors went to 1.44.3 for that (temporalio/temporal pull request 9198), and so does our module file.
 */
export async function buildTemporal(bench: Workbench, program: GoProgram): Promise<string> {
  const { name, file, module, ldflags = '', what, expectedSeconds, advice } = program;
  const go = await findGo('temporal', advice);
  const folder = await buildIntoCache(bench, name, 'temporal', async (draft) => {
    bench.report.phase('temporal', `building ${what} with Go`, expectedSeconds);
    const flags = ['-v', '-mod=readonly', '-buildvcs=false', `-ldflags=-s -w ${ldflags}`];
    await runTool(bench, {
      subject: 'temporal',
      command: go,
      args: ['build', ...flags, '-o', join(draft, file), module],
      cwd: MODULE_FILES,
      // without cgo it needs no C compiler, and runs for a user that has no entry in the password file
      env: { CGO_ENABLED: '0', GOWORK: 'off' },
      progress: goProgress,
      advice: ['Go could not build it: look at GOPROXY and GOFLAGS', ...advice],
    });
  });
  return join(folder, file);
}
