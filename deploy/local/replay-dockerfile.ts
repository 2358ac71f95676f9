import { cpSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { isSent } from './dockerfile.js';
import type { Stage } from './dockerfile.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

/** Where the stages' file systems are said to be. */
const WORKDIR = '/app';

/**
 * Does without Docker what a build does with our files: each stage is a folder that starts as a copy of the one it is
 * built on, COPY takes from the repository (past `.dockerignore`) or from an earlier stage, and RUN is run there. What
 * it cannot show is what the base image holds and how root and mounts behave.
 * @returns the folder of each stage
 */
export async function replayDockerfile(
  bench: Workbench,
  stages: readonly Stage[],
  ignore: string,
  folder: string,
): Promise<Map<string, string>> {
  const made = new Map<string, string>();
  for (const stage of stages) {
    const home = join(folder, stage.name);
    const base = made.get(stage.base);
    if (base === undefined) mkdirSync(home, { recursive: true });
    else cpSync(base, home, { recursive: true, verbatimSymlinks: true });
    for (const step of stage.steps) {
      if (step.kind === 'copy') copy(bench.paths.root, made, home, ignore, step);
      if (step.kind === 'run') {
        bench.report.phase('docker', `${stage.name}: ${step.command}`, 60);
        await runTool(bench, {
          subject: `docker-${stage.name}`,
          command: '/bin/sh',
          args: ['-c', step.command],
          cwd: home,
        });
      }
    }
    made.set(stage.name, home);
  }
  bench.report.done('docker', `the steps of ${stages.length} stages ran in a clean folder`);
  return made;
}

function copy(
  root: string,
  stages: ReadonlyMap<string, string>,
  home: string,
  ignore: string,
  { from, sources, target }: { from: string | null; sources: string[]; target: string },
): void {
  const origin = from === null ? root : stages.get(from);
  if (origin === undefined) throw new Error(`there is no stage ${from}`);
  for (const source of sources) {
    const path = join(origin, from === null ? source : source.slice(WORKDIR.length));
    if (!existsSync(path))
      throw new Error(`COPY ${source}: there is no such file in ${from ?? 'the repository'}`);
    const into = join(home, normalize(target));
    // as Docker does: a folder gives its content, a file goes into a target that ends in a slash
    const to = statSync(path).isDirectory() || !target.endsWith('/') ? into : join(into, basename(path));
    mkdirSync(dirname(to), { recursive: true });
    // half a gigabyte for each stage that takes it: linked instead
    if (from !== null && basename(path) === 'node_modules') symlinkSync(path, to);
    else
      cpSync(path, to, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (file) => from !== null || file === path || isSent(ignore, file.slice(root.length + 1)),
      });
  }
}
