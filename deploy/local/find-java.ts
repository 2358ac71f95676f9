import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { aptInstall } from './apt-install.js';
import { askProgram } from './ask-program.js';
import { findProgram } from './find-program.js';
import { homeFolder } from './home-folder.js';
import { LauncherError } from './launcher-error.js';
import type { Workbench } from './workbench.js';

/** OpenSearch 2.19 needs a security manager, which Java 24 no longer has. */
const OLDEST = 11;
const NEWEST = 21;

/** Lucene 9 compares vectors by the processor's vector instructions from this version on, if the module is there. */
export const VECTOR_MODULE = 'jdk.incubator.vector';
const OLDEST_WITH_VECTORS = 20;

interface Java {
  readonly path: string;
  readonly version: number;
  readonly modules: readonly string[];
}

let found: Promise<string> | undefined;

/** The `java` to run everything with; asked for by several services at once, looked for (or installed) once. */
export function findJava(bench: Workbench, subject: string): Promise<string> {
  found ??= installedJava().then(async (java) => {
    if (java) return java;
    bench.report.phase(subject, 'installing openjdk-17-jre-headless with apt', 60);
    if (await aptInstall(bench, subject, 'openjdk-17-jre-headless')) {
      const installed = await installedJava();
      if (installed) return installed;
    }
    throw new LauncherError(`${subject}: no Java ${OLDEST} to ${NEWEST} was found`, {
      advice: [
        'install a JDK or JRE 17 (on Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME to one',
        'or name services that run already: OPENSEARCH_URL, TEMPORAL_ADDRESS',
      ],
    });
  });
  return found;
}

/** The one that programs are tested on, else any that can run them; null: none is installed. */
export async function installedJava(): Promise<string | null> {
  const suitable = await suitableJavas();
  return (suitable.find(({ version }) => version === 17) ?? suitable[0])?.path ?? null;
}

/** One on this machine whose vector instructions Lucene uses. */
export async function installedVectorJava(): Promise<string | null> {
  const suitable = await suitableJavas();
  return (
    suitable.find(({ version, modules }) => version >= OLDEST_WITH_VECTORS && modules.includes(VECTOR_MODULE))
      ?.path ?? null
  );
}

async function suitableJavas(): Promise<Java[]> {
  const javas = await Promise.all(candidates().map(describe));
  return javas.filter(({ version }) => version >= OLDEST && version <= NEWEST);
}

function candidates(): string[] {
  const homes = [
    process.env['JAVA_HOME'] ?? '',
    ...inside('/usr/lib/jvm'),
    ...inside('/opt').filter((folder) => /j(dk|re)|java/i.test(folder)),
    ...inside(join(homeFolder(), '.sdkman/candidates/java')),
    ...inside('/Library/Java/JavaVirtualMachines').map((folder) => join(folder, 'Contents/Home')),
  ];
  const onPath = findProgram('java', process.env);
  const javas = [...homes.filter(Boolean).map((home) => join(home, 'bin/java')), onPath ?? ''];
  return [...new Set(javas.filter((java) => java && existsSync(java)).map((java) => realpathSync(java)))];
}

function inside(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** From the `release` file that a Java home carries (no need to start a JVM for it), else by asking. 0: unusable. */
async function describe(path: string): Promise<Java> {
  const release = join(dirname(dirname(path)), 'release');
  const text = existsSync(release)
    ? readFileSync(release, 'utf8')
    : ((await askProgram(path, ['-version'])) ?? '');
  const version = /(?:JAVA_VERSION=|version )"(\d+)/.exec(text)?.[1];
  const modules = /^MODULES="([^"]*)"/m.exec(text)?.[1] ?? '';
  return { path, version: version === undefined ? 0 : Number(version), modules: modules.split(' ') };
}
