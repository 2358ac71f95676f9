import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { askProgram } from './ask-program.js';
import { buildIntoCache } from './build-into-cache.js';
import { findProgram } from './find-program.js';
import { homeFolder } from './home-folder.js';
import { LauncherError } from './launcher-error.js';
import { fetchPythonPackage, installPythonPackages } from './python-packages.js';
import type { PythonPackage } from './python-packages.js';
import { unzip } from './unzip.js';
import type { Workbench } from './workbench.js';

const SUBJECT = 'ogx';
/** What it asks of Python. */
const OLDEST_PYTHON = [3, 12] as const;
const NEWEST_MINOR = 14;

/** It ships the vocabulary that OGX would fetch from a site of its own. */
const WITH_VOCABULARY: PythonPackage = {
  name: 'litellm',
  version: '1.109.1',
  sha256: '1c8b4dd671fa0cd0850aa751678704ff77e595fb1e6085b2dc3be39ee19bdaaf',
};
/** cl100k_base, under the name that `tiktoken` looks for in its cache: the SHA-1 of its address. */
const VOCABULARY = '9b5ad71b2ce5302211f9c61530b329a4922fc6a4';

/**
 * OGX, a server to be measured beside us, out of packages of PyPI. The variables say how `test/bench/ogx-server.ts`
 * starts it.
 */
export async function obtainOgx(bench: Workbench): Promise<Record<string, string>> {
  const python = await findNewPython();
  const packages = await installPythonPackages(bench, {
    subject: SUBJECT,
    python,
    what: 'OGX',
    requirements: join(bench.paths.root, 'test/bench/ogx/requirements.txt'),
  });
  const vocabulary = await buildIntoCache(
    bench,
    `ogx-vocabulary-${VOCABULARY.slice(0, 8)}`,
    SUBJECT,
    (draft) => fetchVocabulary(bench, draft),
  );
  return { TAMIS_OGX_PYTHON: python, TAMIS_OGX_PACKAGES: packages, TAMIS_OGX_VOCABULARY: vocabulary };
}

async function fetchVocabulary(bench: Workbench, folder: string): Promise<void> {
  const download = join(folder, 'download');
  const unpacked = join(folder, 'unpacked');
  await fetchPythonPackage(bench, SUBJECT, WITH_VOCABULARY, 'wheel', download);
  const wheel = readdirSync(download).find((name) => name.endsWith('.whl'));
  if (wheel === undefined)
    throw new LauncherError(`${SUBJECT}: ${WITH_VOCABULARY.name} came without a wheel`);
  mkdirSync(unpacked);
  await unzip(join(download, wheel), unpacked);
  copyFileSync(join(unpacked, 'litellm/litellm_core_utils/tokenizers', VOCABULARY), join(folder, VOCABULARY));
}

/** The newest Python that is new enough, on PATH or among those of pyenv. */
async function findNewPython(): Promise<string> {
  const [major, oldest] = OLDEST_PYTHON;
  const names = Array.from(
    { length: NEWEST_MINOR - oldest + 1 },
    (_, index) => `python${major}.${NEWEST_MINOR - index}`,
  );
  const candidates = [...names, 'python3'].flatMap((name) => findProgram(name, process.env) ?? []);
  for (const python of [...candidates, ...pyenvPythons()]) {
    const version = /^Python (\d+)\.(\d+)/.exec((await askProgram(python, ['--version'])) ?? '');
    const isNew = Number(version?.[1]) === major && Number(version?.[2]) >= oldest;
    if (isNew && (await askProgram(python, ['-m', 'pip', '--version'])) !== null) return python;
  }
  throw new LauncherError(`${SUBJECT}: no Python ${OLDEST_PYTHON.join('.')} or newer with pip was found`, {
    advice: ['install one, with pip, and put it on PATH'],
  });
}

function pyenvPythons(): string[] {
  const folder = join(homeFolder(), '.pyenv/versions');
  try {
    return readdirSync(folder)
      .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
      .map((version) => join(folder, version, 'bin/python'));
  } catch {
    return [];
  }
}
