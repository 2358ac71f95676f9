import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../find-program.js';
import { LauncherError } from '../launcher-error.js';
import { fetchPythonPackage } from '../python-packages.js';
import { runTool } from '../run-tool.js';
import type { Workbench } from '../workbench.js';

/** Where Debian puts them, and in which package. */
const SYSTEM = [
  { file: 'nlohmann/json.hpp', package: 'nlohmann-json3-dev' },
  { file: 'stb/stb_image.h', package: 'libstb-dev' },
] as const;

const MINIAUDIO = {
  name: 'miniaudio',
  version: '1.71',
  sha256: 'ff51e2887bb673e2e757752b586b3dc924d59aa5fbcae9bbc45f4a111bd3262b',
};

/**
 * The C headers that Ollama's source needs and that a Go module archive leaves out (it drops folders called
 * `vendor`), in one folder for `-I`. They are copied from the system where they are installed.
 */
export async function collectOllamaHeaders(bench: Workbench, folder: string): Promise<string> {
  const headers = join(folder, 'headers');
  mkdirSync(headers, { recursive: true });
  for (const { file, package: name } of SYSTEM) {
    const include = ['/usr/include', '/usr/local/include', '/opt/homebrew/include'].find((place) =>
      existsSync(join(place, file)),
    );
    const source = include ?? join(await unpackDebian(bench, name, join(folder, name)), 'usr/include');
    const library = file.slice(0, file.indexOf('/'));
    cpSync(join(source, library), join(headers, library), { recursive: true });
  }
  const download = join(folder, 'miniaudio');
  await fetchPythonPackage(bench, 'ollama', MINIAUDIO, 'source', download);
  const inside = `miniaudio-${MINIAUDIO.version}/miniaudio/miniaudio.h`;
  const archive = join(download, `miniaudio-${MINIAUDIO.version}.tar.gz`);
  await runTool(bench, {
    subject: 'ollama',
    command: 'tar',
    args: ['-xzf', archive, '-C', download, inside],
  });
  mkdirSync(join(headers, 'miniaudio'));
  cpSync(join(download, inside), join(headers, 'miniaudio/miniaudio.h'));
  return headers;
}

/** Downloads and unpacks without installing, which needs no rights. */
async function unpackDebian(bench: Workbench, name: string, folder: string): Promise<string> {
  const apt = findProgram('apt-get', process.env);
  const dpkg = findProgram('dpkg-deb', process.env);
  if (!apt || !dpkg) {
    throw new LauncherError(`ollama: the C headers of ${name} were not found`, {
      advice: ['install nlohmann-json and stb with your system’s package manager', OR_OWN],
    });
  }
  mkdirSync(folder, { recursive: true });
  const advice = [`as root: apt-get update && apt-get install ${name}`, OR_OWN];
  const download = { subject: 'ollama', command: apt, args: ['download', name], cwd: folder, advice };
  await runTool(bench, download).catch(async (error: unknown) => {
    // a fresh image has no package lists; only root may fetch them
    if (bench.signal.aborted || process.getuid?.() !== 0) throw error;
    await runTool(bench, { subject: 'ollama', command: apt, args: ['update', '-q'], advice });
    await runTool(bench, download);
  });
  const archive = readdirSync(folder).find((file) => file.endsWith('.deb'));
  if (!archive) throw new Error(`apt-get left no archive of ${name} in ${folder}`);
  await runTool(bench, { subject: 'ollama', command: dpkg, args: ['-x', join(folder, archive), folder] });
  return folder;
}

const OR_OWN = 'or install Ollama yourself (ollama.com/download), or set OLLAMA_HOST to one that runs';
