import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIntoCache } from '../build-into-cache.js';
import { fetchDebianPackages, findDebianTools, unpackDebianPackages } from '../debian-packages.js';
import type { DebianTools } from '../debian-packages.js';
import { findJava, installedJava, installedVectorJava } from '../find-java.js';
import { describeDifferences, parseManifest } from '../package-manifest.js';
import type { Workbench } from '../workbench.js';

/** The oldest Debian that has Java 21; its C library is newer than that of the one before. */
const SUITE = 'trixie';
const PACKAGE = 'openjdk-21-jre-headless';
const MEASURED = fileURLToPath(new URL('../artifacts/debian/openjdk.txt', import.meta.url));
const JAVA_HOME = 'usr/lib/jvm/java-21-openjdk-amd64';
const RUN = 'java';
const ADVICE = ['put a java of version 21 or newer on PATH'];

/** Nothing reads them here. */
const NOT_NEEDED = ['usr/share', `${JAVA_HOME}/man`, `${JAVA_HOME}/docs`, `${JAVA_HOME}/legal`];

/** A Java to run OpenSearch with, and whether Lucene finds the processor's vector instructions through it. */
export interface VectorJava {
  readonly path: string;
  readonly hasVectors: boolean;
}

/**
 * With vector instructions the engine compares vectors twice as fast, in searches and while it indexes: so where the
 * machine has no Java that gives them, Debian's is fetched. What has none of both runs with any Java, only slower.
 */
export async function findVectorJava(bench: Workbench, subject: string): Promise<VectorJava> {
  const path = (await installedVectorJava()) ?? (await fetchedJava(bench, subject));
  return path === null
    ? { path: await findJava(bench, subject), hasVectors: false }
    : { path, hasVectors: true };
}

async function fetchedJava(bench: Workbench, subject: string): Promise<string | null> {
  const name = homeName();
  const kept = join(bench.paths.cache, name);
  if (existsSync(kept)) return join(kept, RUN);
  const tools = await findDebianTools();
  if (typeof tools === 'string') return null;
  try {
    const home = await buildIntoCache(bench, name, subject, (draft) => build(bench, subject, tools, draft));
    return join(home, RUN);
  } catch (error) {
    // Without any Java there is nothing to fall back to, and the reason is what a person needs.
    if (bench.signal.aborted || (await installedJava()) === null) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    bench.report.say(`  ! ${subject}: searches without vector instructions, since ${reason}`);
    return null;
  }
}

/** The name says the version that was measured. */
function homeName(): string {
  const version = parseManifest(readFileSync(MEASURED, 'utf8')).find(({ name }) => name === PACKAGE)?.version;
  return `${PACKAGE}-${version}`.replace(/[^\w.-]/g, '-');
}

async function build(bench: Workbench, subject: string, tools: DebianTools, home: string): Promise<void> {
  const measured = parseManifest(readFileSync(MEASURED, 'utf8'));
  const names = measured.map(({ name }) => name);
  const request = { suite: SUITE, names, roots: [PACKAGE], advice: ADVICE };
  const download = join(home, 'download');
  const packages = await fetchDebianPackages(bench, subject, tools, request, download);
  await unpackDebianPackages(bench, subject, tools, download, home);
  for (const folder of NOT_NEEDED) rmSync(join(home, folder), { recursive: true, force: true });
  pointInside(home, join(home, JAVA_HOME));
  wrapJava(home);
  const differences = describeDifferences(measured, packages);
  if (differences !== null) bench.report.say(`  ! ${subject}: ${differences}`);
}

/** The package links to its settings by absolute paths, which are in the home here. */
function pointInside(home: string, folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const kind = lstatSync(path);
    if (kind.isDirectory()) pointInside(home, path);
    if (!kind.isSymbolicLink()) continue;
    const target = readlinkSync(path);
    if (!target.startsWith('/')) continue;
    rmSync(path);
    if (existsSync(join(home, target))) symlinkSync(relative(dirname(path), join(home, target)), path);
  }
}

/**
 * Java is run by the loader and with the libraries of its home. It takes the folder above the program's for its own,
 * and the program is the loader then: so a copy of that stands beside it. All paths are found from the script's own,
 * since a home is renamed when it is complete.
 */
function wrapJava(home: string): void {
  copyFileSync(join(home, 'usr/lib64/ld-linux-x86-64.so.2'), join(home, JAVA_HOME, 'bin/loader'));
  const lines = [
    '#!/bin/sh',
    `home=\${0%/${RUN}}`,
    `java="$home/${JAVA_HOME}"`,
    'libraries="$home/usr/lib/x86_64-linux-gnu:$java/lib:$java/lib/server"',
    'exec "$java/bin/loader" --library-path "$libraries" "$java/bin/java" "$@"',
  ];
  const script = join(home, RUN);
  writeFileSync(script, `${lines.join('\n')}\n`);
  chmodSync(script, 0o755);
}
