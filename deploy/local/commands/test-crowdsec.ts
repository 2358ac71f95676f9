import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildIntoCache } from '../build-into-cache.js';
import { findProgram } from '../find-program.js';
import { LauncherError } from '../launcher-error.js';
import { runToEnd } from '../run-to-end.js';
import { runTool } from '../run-tool.js';
import { Stack } from '../stack.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

const INSIDE = '--inside';
const SUBJECT = 'crowdsec';

/** Addresses of services that are not to be reached from inside. */
const nothingOutside = Object.fromEntries(
  ['MONGODB_URL', 'OPENSEARCH_URL', 'TEMPORAL_ADDRESS', 'REDIS_URL', 'OLLAMA_HOST'].map((name) => [name, '']),
);

/**
 * The real client against gateway, worker and services, all within one network namespace whose only interface is
 * loopback: whatever the client tries, no packet leaves it. Needs root on Debian, for `unshare` and the package,
 * which is unpacked and never installed: its post-install step would register at the real central API.
 */
export async function testCrowdsec(bench: Workbench, args: readonly string[]): Promise<number> {
  if (args.includes(INSIDE))
    return await test('jest.crowdsec.config.mjs', { testServer: false })(
      bench,
      args.filter((arg) => arg !== INSIDE),
    );
  const [unshare, ip] = [needed('unshare', 'util-linux'), needed('ip', 'iproute2')];
  const client = await unpacked(bench);
  // Nothing can be fetched from inside, so that every service's program has to be there before.
  const stack = new Stack(bench);
  await stack.enter('test');
  try {
    await stack.openServices({ supervise: false, also: ['redis'] });
  } finally {
    await stack.close({ leaveFound: true });
  }
  const { root, local } = bench.paths;
  const folder = join(local, SUBJECT);
  rmSync(folder, { recursive: true, force: true });
  const script = join(root, 'deploy/local/run.mjs');
  const inside = `"${ip}" link set lo up && exec "$0" "$@"`;
  return await runToEnd(
    unshare,
    ['-n', '--', '/bin/sh', '-c', inside, process.execPath, script, 'test:crowdsec', INSIDE, ...args],
    {
      cwd: root,
      env: { ...process.env, ...nothingOutside, TAMIS_LOCAL_DIR: folder, CROWDSEC_FILES: client },
      signal: bench.signal,
    },
  );
}

function needed(name: string, from: string): string {
  const path = process.getuid?.() === 0 ? findProgram(name, process.env, ['/usr/bin', '/usr/sbin']) : null;
  if (path !== null) return path;
  throw new LauncherError(`test:crowdsec needs to be root on Debian, with ${name}`, {
    advice: [`run it as root where Debian's ${from} and apt are`],
  });
}

/** The files of Debian's package. */
async function unpacked(bench: Workbench): Promise<string> {
  const apt = needed('apt-get', 'apt');
  return await buildIntoCache(bench, 'crowdsec-debian', SUBJECT, async (draft) => {
    bench.report.phase(SUBJECT, 'fetching the package', 20);
    const tool = { subject: SUBJECT, cwd: draft };
    await runTool(bench, { ...tool, command: apt, args: ['update', '-q'] });
    await runTool(bench, { ...tool, command: apt, args: ['download', '-q', 'crowdsec'] });
    const archive = readdirSync(draft).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new LauncherError(`apt-get left no package in ${draft}`);
    await runTool(bench, { ...tool, command: 'dpkg-deb', args: ['-x', archive, draft] });
    rmSync(join(draft, archive));
    if (!existsSync(join(draft, 'usr/bin/crowdsec')))
      throw new LauncherError('the package has no usr/bin/crowdsec');
    bench.report.done(SUBJECT, 'is there');
  });
}
