import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildIntoCache } from '../build-into-cache.js';
import { fetchDebianPackages, findDebianTools } from '../debian-packages.js';
import { findProgram } from '../find-program.js';
import { LauncherError } from '../launcher-error.js';
import { runTool } from '../run-tool.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

const SUBJECT = 'prometheus';
/** Its package holds both programs, which need nothing but the C library. */
const SUITE = 'bookworm';
const ADVICE = ['put prometheus and promtool on PATH'];

/** The alert rules, checked by promtool and seen firing in a Prometheus. Needs no service. */
export async function testAlerts(bench: Workbench, args: readonly string[]): Promise<number> {
  const environment = { PROMETHEUS_PROGRAMS: (await found()) ?? (await unpacked(bench)) };
  return await test('jest.alerts.config.mjs', { environment })(bench, ['--no-services', ...args]);
}

/** The folder of both programs. */
async function found(): Promise<string | null> {
  const prometheus = findProgram('prometheus', process.env, ['/usr/bin', '/usr/local/bin']);
  const folder = prometheus === null ? null : dirname(prometheus);
  return folder !== null && existsSync(join(folder, 'promtool')) ? folder : null;
}

/** Debian's package, unpacked into the cache: nothing of the machine is changed, and no service starts. */
async function unpacked(bench: Workbench): Promise<string> {
  const home = await buildIntoCache(bench, `prometheus-${SUITE}`, SUBJECT, async (draft) => {
    const tools = await findDebianTools();
    if (typeof tools === 'string')
      throw new LauncherError(`test:alerts needs Prometheus, or ${tools} to fetch it with`, {
        advice: ADVICE,
      });
    const download = join(draft, 'download');
    const request = { suite: SUITE, names: [SUBJECT], roots: [SUBJECT], advice: ADVICE };
    await fetchDebianPackages(bench, SUBJECT, tools, request, download);
    const archive = readdirSync(download).find((file) => file.startsWith(`${SUBJECT}_`));
    if (archive === undefined) throw new LauncherError(`Debian ${SUITE} has no package ${SUBJECT}`);
    const programs = ['./usr/bin/prometheus', './usr/bin/promtool'];
    // Without the pages and libraries of its user interface.
    const unpack = '"$1" --fsys-tarfile "$2" | tar --extract --directory "$3" "$4" "$5"';
    await runTool(bench, {
      subject: SUBJECT,
      command: 'sh',
      args: ['-euc', unpack, 'unpack', tools.dpkg, join(download, archive), draft, ...programs],
    });
    rmSync(download, { recursive: true });
    for (const name of readdirSync(join(draft, 'usr/bin'))) chmodSync(join(draft, 'usr/bin', name), 0o755);
    bench.report.done(SUBJECT, 'is there');
  });
  return join(home, 'usr/bin');
}
