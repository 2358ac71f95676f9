import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a release is started by, within its folder. */
export const SCRIPTS = { gateway: 'api/main.js', worker: 'workers/main.js' };

/** A release as it is deployed: compiled JavaScript with its packages. */
export interface Release {
  name: string;
  /** Holds `SCRIPTS`. */
  folder: string;
  remove(): void;
}

/**
 * Builds a commit of this repository in a folder of its own, with the packages of its own lock.
 * @param commit or the folder of a release that is built already
 * @throws Error when the history does not hold the commit, as in a shallow clone
 */
export function buildCommit(commit: string): Release {
  if (existsSync(join(commit, SCRIPTS.gateway)))
    return { name: commit, folder: commit, remove: () => undefined };
  if (spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status !== 0)
    throw new Error(
      `The history of this clone does not hold the release before (${commit}): fetch it with ` +
        '`git fetch --unshallow`, or name another commit or a built release by RELEASE_BEFORE.',
    );
  const folder = mkdtempSync(join(tmpdir(), 'tamis-release-'));
  const archive = join(folder, 'release.tar');
  run(root, 'git', ['archive', '--format=tar', `--output=${archive}`, commit]);
  run(folder, 'tar', ['-xf', archive]);
  const isSameLock =
    readFileSync(join(folder, 'package-lock.json'), 'utf8') ===
    readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (isSameLock) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else run(folder, 'npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline']);
  run(folder, process.execPath, ['deploy/build.mjs', 'dist', '--no-types', '--no-console']);
  return {
    name: commit,
    folder: join(folder, 'dist'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Builds the code that is tested, from the files as they are. */
export function buildPresent(): Release {
  const folder = mkdtempSync(join(tmpdir(), 'tamis-release-'));
  // Beneath the packages, which the bundler looks for in the folders above.
  mkdirSync(join(root, '.local'), { recursive: true });
  const built = mkdtempSync(join(root, '.local/release-'));
  run(root, process.execPath, ['deploy/build.mjs', built, '--no-types', '--no-console']);
  cpSync(built, join(folder, 'dist'), { recursive: true });
  rmSync(built, { recursive: true, force: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    name: 'present',
    folder: join(folder, 'dist'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function run(cwd: string, command: string, args: readonly string[]): void {
  const { NODE_OPTIONS: _jest, ...env } = process.env;
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${String(error ?? '')}\n${stdout}\n${stderr}`);
}
