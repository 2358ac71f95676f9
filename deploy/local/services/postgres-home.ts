import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchDebianPackages, unpackDebianPackages } from '../debian-packages.js';
import type { DebianTools } from '../debian-packages.js';
import { describeDifferences, formatManifest, parseManifest } from '../package-manifest.js';
import type { Workbench } from '../workbench.js';

const MAJOR = 18;
const EXTENSION = `postgresql-${MAJOR}-documentdb`;
/** The only Debian suite that has the extension; its libraries are newer than those of a stable Debian. */
const SUITE = 'forky';
const MEASURED = fileURLToPath(new URL('../artifacts/debian/documentdb.txt', import.meta.url));
const MANIFEST = 'packages.txt';
const ADVICE = ['install mongod 7 or newer, or set MONGODB_URL to a server that runs already'];

/** Relative to the home: what PostgreSQL itself was built with, from where it finds all its other files. */
const PROGRAMS = `usr/lib/postgresql/${MAJOR}/bin`;
const REAL_PROGRAMS = `usr/lib/postgresql/${MAJOR}/programs`;
const RUN = ['postgres', 'initdb', 'pg_isready', 'psql'];

/** Nothing reads them here, and they are a quarter of all that is unpacked. */
const NOT_NEEDED = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/locale',
  'usr/share/lintian',
  `usr/lib/postgresql/${MAJOR}/lib/bitcode`,
];

/** The name says the versions that were measured; what a home really holds says its manifest. */
export function postgresHomeName(): string {
  const versions = new Map(
    parseManifest(readFileSync(MEASURED, 'utf8')).map((one) => [one.name, one.version]),
  );
  return `postgresql-${versions.get(`postgresql-${MAJOR}`)}-documentdb-${versions.get(EXTENSION)}`;
}

export function postgresPrograms(home: string): string {
  return join(home, PROGRAMS);
}

/** Of the extension in this home: its tables in a database are made or brought to this version. */
export function documentdbVersion(home: string): string {
  const packages = parseManifest(readFileSync(join(home, MANIFEST), 'utf8'));
  const version = packages.find(({ name }) => name === EXTENSION)?.version;
  if (version === undefined) throw new Error(`${home} holds no ${EXTENSION}`);
  return version;
}

/**
 * Fills `home` with Debian's packages of PostgreSQL and DocumentDB and every library that they load, down to the C
 * library: nothing of the machine's own is used but its kernel, and nothing of it is changed.
 */
export async function buildPostgresHome(bench: Workbench, tools: DebianTools, home: string): Promise<void> {
  const measured = parseManifest(readFileSync(MEASURED, 'utf8'));
  const download = join(home, 'download');
  const names = measured.map(({ name }) => name);
  const request = { suite: SUITE, names, roots: [EXTENSION, `postgresql-${MAJOR}`], advice: ADVICE };
  const packages = await fetchDebianPackages(bench, 'postgres', tools, request, download);

  await unpackDebianPackages(bench, 'postgres', tools, download, home);
  for (const folder of NOT_NEEDED) rmSync(join(home, folder), { recursive: true, force: true });
  // What a script of the package does when it is installed.
  const extensions = join(home, `usr/share/postgresql/${MAJOR}/extension`);
  rmSync(join(extensions, 'postgis.control'), { force: true });
  symlinkSync('postgis-3.control', join(extensions, 'postgis.control'));
  for (const name of RUN) wrapProgram(home, name);
  writeFileSync(join(home, MANIFEST), formatManifest(packages));
  // Whatever the umask: as root the server runs as another user, who must be able to read it.
  chmodSync(join(home, REAL_PROGRAMS), 0o755);
  chmodSync(join(home, MANIFEST), 0o644);

  const differences = describeDifferences(measured, packages);
  if (differences !== null) bench.report.say(`  ! postgres: ${differences}`);
}

/**
 * The program is run by the loader and with the libraries of its home. It looks for its other files from where its
 * own name says that it is: so a script takes its place, and hands this name on. All paths are found from the script's
 * own, since a home is renamed when it is complete.
 */
function wrapProgram(home: string, name: string): void {
  const script = join(home, PROGRAMS, name);
  mkdirSync(join(home, REAL_PROGRAMS), { recursive: true });
  renameSync(script, join(home, REAL_PROGRAMS, name));
  const lines = [
    '#!/bin/sh',
    `home=\${0%/${PROGRAMS}/*}`,
    `libraries=$home/usr/lib/x86_64-linux-gnu:$home/usr/lib/postgresql/${MAJOR}/lib`,
    'exec "$home/usr/lib64/ld-linux-x86-64.so.2" --library-path "$libraries" --argv0 "$0" \\',
    `  "$home/${REAL_PROGRAMS}/${name}" "$@"`,
  ];
  writeFileSync(script, `${lines.join('\n')}\n`);
  chmodSync(script, 0o755);
}
