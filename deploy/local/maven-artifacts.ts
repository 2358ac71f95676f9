import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { aptInstall } from './apt-install.js';
import { findProgram } from './find-program.js';
import { LauncherError } from './launcher-error.js';
import { runTool } from './run-tool.js';
import { unzip } from './unzip.js';
import type { Workbench } from './workbench.js';

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';

interface Artifact {
  readonly sha256: string;
  readonly folder: string;
  readonly group: string;
  readonly name: string;
  readonly version: string;
  readonly type: string;
}

/** Lines of `sha256 folder group:artifact:version[:type]`; the lists are in `artifacts/`. */
export function parseArtifacts(text: string): Artifact[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [sha256 = '', folder = '', coordinates = ''] = line.split(/\s+/);
    const [group = '', name = '', version = '', type = 'jar'] = coordinates.split(':');
    if (!/^[0-9a-f]{64}$/.test(sha256) || version === '') throw new Error(`not an artifact: ${line}`);
    return { sha256, folder, group, name, version, type };
  });
}

/**
 * Copies every artifact of a list into its folder under `home`, exactly the listed bytes: each is compared with its
 * checksum, so a service is the same on every machine whatever repository Maven is set up with. Zips are unpacked.
 */
export async function fetchArtifacts(
  bench: Workbench,
  subject: string,
  list: string,
  home: string,
): Promise<void> {
  const artifacts = parseArtifacts(
    readFileSync(fileURLToPath(new URL(`artifacts/${list}`, import.meta.url)), 'utf8'),
  );
  const mvn = await findMaven(bench, subject);
  const project = join(home, '.maven');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'pom.xml'), pom(artifacts, home));
  const advice = [
    'Maven could not fetch the artifacts: look at its settings.xml (mirror, proxy) and try again',
  ];
  const call = { subject, command: mvn, args: ['-B', `${PLUGIN}:copy`], cwd: project, advice };
  await runTool(bench, { ...call, progress: (written) => artifactProgress(artifacts, written) });
  for (const artifact of artifacts) {
    const file = join(home, artifact.folder, `${artifact.name}-${artifact.version}.${artifact.type}`);
    await check(file, artifact.sha256, subject);
    if (artifact.type === 'zip') {
      await unzip(file, dirname(file));
      rmSync(file);
    }
  }
  rmSync(project, { recursive: true });
}

/** How many of the artifacts Maven has fetched, or copied where it had them already. */
export function artifactProgress(artifacts: readonly Artifact[], written: string): string | null {
  const named = new Set(
    [...written.matchAll(/(?:Downloaded from \S+ |Copying )\S*?([^/\s]+\.(?:jar|zip))\b/g)].map(
      ([, file]) => file,
    ),
  );
  const count = artifacts.filter(({ name, version, type }) => named.has(`${name}-${version}.${type}`)).length;
  return count === 0 ? null : `${count} of ${artifacts.length} artifacts`;
}

async function findMaven(bench: Workbench, subject: string): Promise<string> {
  const usual = ['/usr/share/maven/bin', '/opt/maven/bin', '/usr/local/bin', '/opt/homebrew/bin'];
  const find = () => findProgram('mvn', process.env, usual);
  const mvn = find() ?? ((await aptInstall(bench, subject, 'maven')) ? find() : null);
  if (mvn) return mvn;
  throw new LauncherError(
    `${subject}: Maven (mvn) was not found, and ${subject} is put together from its repository`,
    {
      advice: ['install Maven 3.6 or newer', 'or name a service that runs already: OPENSEARCH_URL'],
    },
  );
}

function pom(artifacts: readonly Artifact[], home: string): string {
  const items = artifacts.map(
    ({ group, name, version, type, folder }) =>
      `<artifactItem><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version>` +
      `<type>${type}</type><outputDirectory>${xml(join(home, folder))}</outputDirectory></artifactItem>`,
  );
  return (
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>local</groupId>' +
    '<artifactId>fetch</artifactId><version>1</version><packaging>pom</packaging><build><plugins><plugin>' +
    '<groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.6.1</version>' +
    `<configuration><artifactItems>\n${items.join('\n')}\n</artifactItems></configuration></plugin></plugins></build></project>\n`
  );
}

function xml(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

async function check(file: string, expected: string, subject: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const actual = hash.digest('hex');
  if (actual === expected) return;
  throw new LauncherError(
    `${subject}: ${file} is not what it should be (sha256 ${actual}, expected ${expected})`,
    {
      advice: ['the repository that Maven is set up with serves something else: do not use it for this'],
    },
  );
}
