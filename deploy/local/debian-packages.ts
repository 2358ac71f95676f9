import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { askProgram } from './ask-program.js';
import { findProgram } from './find-program.js';
import { LauncherError } from './launcher-error.js';
import type { PinnedPackage } from './package-manifest.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

/** What Debian signs its releases with. */
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** What apt checks the signature with, in its older and newer versions. */
const VERIFIERS = ['gpgv', 'sqv', 'gpgv2', 'gpgv1'] as const;

export interface DebianRequest {
  readonly suite: string;
  /** The packages that are needed, where the suite still has all of them. */
  readonly names: readonly string[];
  /** Otherwise these with everything that they depend on. */
  readonly roots: readonly string[];
  /** What to do where the suite has them no longer. */
  readonly advice: readonly string[];
}

export interface DebianTools {
  readonly apt: string;
  readonly dpkg: string;
  /** A Debian mirror that this machine's own package sources name. */
  readonly mirror: string;
}

/** The tools to fetch and unpack Debian's packages with, or in words what this machine lacks for it. */
export async function findDebianTools(): Promise<DebianTools | string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Linux on x86-64';
  const apt = findProgram('apt-get', process.env);
  const dpkg = findProgram('dpkg-deb', process.env);
  if (apt === null || dpkg === null) return apt === null ? 'apt-get' : 'dpkg-deb';
  if (VERIFIERS.every((name) => findProgram(name, process.env) === null)) return VERIFIERS[0];
  if (!existsSync(KEYRING)) return 'the package debian-archive-keyring';
  const targets = await askProgram(apt, ['indextargets', '--format', '$(ORIGIN)|$(RELEASE)|$(REPO_URI)']);
  const mirror = pickMirror(targets ?? '');
  return mirror === null ? 'a Debian mirror in the package sources of apt' : { apt, dpkg, mirror };
}

/**
 * Out of lines of `origin|release|address`: the machine's own mirror, however its sources are written. The origin is
 * known only after an `apt-get update`; before one, the usual end of the address tells.
 */
export function pickMirror(targets: string): string | null {
  const sources = targets.split('\n').flatMap((line) => {
    const [origin = '', release = '', address = ''] = line.split('|');
    return address === '' || release.includes('security') ? [] : [{ origin, address }];
  });
  const usual = sources.find(({ address }) => /\/debian\/?$/.test(address));
  return (usual ?? sources.find(({ origin }) => origin === 'Debian'))?.address ?? null;
}

/**
 * Fetches packages of another suite than the machine's own into `folder`, as an ordinary user and without changing
 * anything of the machine's: apt gets lists, cache and package database of its own. apt checks the suite's signature
 * and with it every archive's digest.
 */
export async function fetchDebianPackages(
  bench: Workbench,
  subject: string,
  { apt, mirror }: DebianTools,
  request: DebianRequest,
  folder: string,
): Promise<PinnedPackage[]> {
  const scratch = join(folder, 'apt');
  for (const part of ['lists/partial', 'archives/partial']) {
    mkdirSync(join(scratch, part), { recursive: true });
  }
  const config = join(scratch, 'apt.conf');
  writeFileSync(config, aptConfiguration(scratch));
  writeFileSync(join(scratch, 'status'), '');
  const source = `deb [arch=amd64 signed-by=${KEYRING}] ${mirror} ${request.suite} main\n`;
  writeFileSync(join(scratch, 'sources.list'), source);
  const advice = ['look at the package sources of apt (mirror, proxy) and try again'];
  const runApt = (args: readonly string[], progress: () => string | null = () => null) =>
    runTool(bench, {
      subject,
      command: apt,
      args: ['-c', config, '-q', ...args],
      cwd: folder,
      advice,
      progress,
    });

  bench.report.phase(subject, `reading Debian's list of packages (${request.suite})`, 10);
  await runApt(['update']);
  const wanted = await choose(apt, config, request);
  const megabytes = Math.round(wanted.bytes / 1e6);
  bench.report.phase(
    subject,
    `fetching ${wanted.names.length} Debian packages, ${megabytes} MB`,
    megabytes / 5,
  );
  const archivesIn = () => readdirSync(folder).filter((file) => file.endsWith('.deb'));
  await runApt(
    ['download', ...wanted.names],
    () => `${archivesIn().length} of ${wanted.names.length} packages`,
  );
  rmSync(scratch, { recursive: true });
  const archives = archivesIn().sort();
  if (archives.length !== wanted.names.length) {
    throw new LauncherError(
      `${subject}: apt-get fetched ${archives.length} packages of ${wanted.names.length}`,
      { advice },
    );
  }
  return Promise.all(archives.map((file) => pin(join(folder, file), file)));
}

/** Unpacks every archive in `download` into `home`, as a Debian lies, and removes the archives. */
export async function unpackDebianPackages(
  bench: Workbench,
  subject: string,
  { dpkg }: DebianTools,
  download: string,
  home: string,
): Promise<void> {
  bench.report.phase(subject, 'unpacking the Debian packages', 10);
  // As on every Debian, where /lib and its like lead to the folders of that name in /usr.
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(home, 'usr', folder), { recursive: true });
    symlinkSync(`usr/${folder}`, join(home, folder));
  }
  const unpack = 'for archive in "$2"/*.deb; do "$1" --extract "$archive" "$3"; done';
  const args = ['-euc', unpack, 'unpack', dpkg, download, home];
  await runTool(bench, { subject, command: 'sh', args });
  rmSync(download, { recursive: true });
  // Whatever the umask: as root a server runs as another user, who must be able to read it.
  for (const folder of ['', 'usr', 'usr/bin', 'usr/sbin', 'usr/lib', 'usr/lib64']) {
    chmodSync(join(home, folder), 0o755);
  }
}

/** A library that got another name since the list was made: then whatever the roots depend on, three times as many. */
async function choose(
  apt: string,
  config: string,
  { names, roots, suite, advice }: DebianRequest,
): Promise<{ names: string[]; bytes: number }> {
  const print = ['-c', config, '-qq', '--print-uris'];
  const printed =
    (await askProgram(apt, [...print, 'download', ...names])) ??
    (await askProgram(apt, [...print, '-y', 'install', ...roots]));
  const files = [...(printed ?? '').matchAll(/^'[^']*' ([^_\s]+)_\S+\.deb (\d+) /gm)];
  if (files.length === 0) {
    throw new LauncherError(`Debian ${suite} no longer has ${roots.join(', ')}`, { advice: [...advice] });
  }
  return {
    names: files.map(([, name = '']) => name),
    bytes: files.reduce((sum, [, , size]) => sum + Number(size), 0),
  };
}

/** The file is called `name_version_architecture.deb`, with %3a for the colon after an epoch. */
async function pin(path: string, file: string): Promise<PinnedPackage> {
  const [name = '', version = ''] = file.split('_');
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { name, version: decodeURIComponent(version), sha256: hash.digest('hex') };
}

/**
 * Read after the machine's own configuration, of which proxies and credentials stay in force. A moving suite may be
 * past the date on its release file where the mirror is a snapshot: its signature is what counts.
 */
function aptConfiguration(scratch: string): string {
  return `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
Dir::State "${scratch}/";
Dir::State::status "${scratch}/status";
Dir::Cache "${scratch}/";
Dir::Log "${scratch}/";
Dir::Etc::sourcelist "${scratch}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "amd64";
APT::Default-Release "";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
`;
}
