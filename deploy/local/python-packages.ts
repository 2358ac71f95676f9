import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall } from './apt-install.js';
import { askProgram } from './ask-program.js';
import { buildIntoCache } from './build-into-cache.js';
import { findProgram } from './find-program.js';
import { LauncherError } from './launcher-error.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

export interface PythonPackage {
  readonly name: string;
  readonly version: string;
  /** Of the one file that is meant. */
  readonly sha256: string;
}

/**
 * Downloads one package file from the index that pip is set up with, and nothing else: it is not installed and not
 * run, and pip compares it with its checksum.
 * @param kind a wheel, or the source archive
 */
export async function fetchPythonPackage(
  bench: Workbench,
  subject: string,
  { name, version, sha256 }: PythonPackage,
  kind: 'wheel' | 'source',
  folder: string,
): Promise<void> {
  const python = await findPython(bench, subject);
  mkdirSync(folder, { recursive: true });
  const requirements = join(folder, 'requirements.txt');
  writeFileSync(requirements, `${name}==${version} --hash=sha256:${sha256}\n`);
  const form = kind === 'wheel' ? '--only-binary' : '--no-binary';
  await runTool(bench, {
    subject,
    command: python,
    args: [
      '-m',
      'pip',
      'download',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--require-hashes',
      form,
      kind === 'wheel' ? ':all:' : name,
      '--dest',
      folder,
      '--requirement',
      requirements,
    ],
    advice: [`pip could not fetch ${name} ${version}: look at its index-url and try again`],
  });
}

/** A Python 3 with pip, installed first where apt can. */
export async function findPython(bench: Workbench, subject: string): Promise<string> {
  const find = async () => {
    const python = findProgram('python3', process.env, ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']);
    return python && (await askProgram(python, ['-m', 'pip', '--version'])) ? python : null;
  };
  const python = (await find()) ?? ((await aptInstall(bench, subject, 'python3-pip')) ? await find() : null);
  if (python) return python;
  throw new LauncherError(`${subject}: no Python 3 with pip was found, and its parts are packages of PyPI`, {
    advice: ['install python3 and pip (on Debian: apt-get install python3-pip)'],
  });
}

/**
 * The packages of a list, in a folder of their own in the cache, so that nothing of this machine's Python changes;
 * another list or another Python, another folder.
 * @returns the folder, for PYTHONPATH
 */
export async function installPythonPackages(
  bench: Workbench,
  {
    subject,
    python,
    requirements,
    what,
  }: { subject: string; python: string; requirements: string; what: string },
): Promise<string> {
  const key = createHash('sha256')
    .update(`${python}\n${readFileSync(requirements, 'utf8')}`)
    .digest('hex')
    .slice(0, 12);
  return await buildIntoCache(bench, `python-${subject}-${key}`, subject, async (draft) => {
    bench.report.phase(subject, `fetching ${what}`, 60);
    await runTool(bench, {
      subject,
      command: python,
      args: [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--only-binary',
        ':all:',
        '--target',
        draft,
        '--requirement',
        requirements,
      ],
      advice: [`pip could not fetch ${what}: look at its index-url and try again`],
    });
    bench.report.done(subject, 'are there');
  });
}
