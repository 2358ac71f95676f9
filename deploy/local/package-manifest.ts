/** One Debian package: which version it is, and the digest of its archive. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

/** Lines of `name=version sha256`; those that begin with # are comments. */
export function parseManifest(text: string): PinnedPackage[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, version, sha256] = /^([^=\s]+)=(\S+) ([0-9a-f]{64})$/.exec(line) ?? [];
    if (name === undefined || version === undefined || sha256 === undefined) {
      throw new Error(`not a pinned package: ${line}`);
    }
    return { name, version, sha256 };
  });
}

export function formatManifest(packages: readonly PinnedPackage[]): string {
  return packages.map(({ name, version, sha256 }) => `${name}=${version} ${sha256}\n`).join('');
}

const SHOWN = 3;

/** How what was fetched differs from what was measured, in one line; null: not at all. */
export function describeDifferences(
  measured: readonly PinnedPackage[],
  fetched: readonly PinnedPackage[],
): string | null {
  const expected = new Map(measured.map((one) => [one.name, one]));
  const actual = new Map(fetched.map((one) => [one.name, one]));
  const differences = [
    ...fetched.flatMap(({ name, version, sha256 }) => {
      const known = expected.get(name);
      if (!known) return [`${name} ${version} is new`];
      if (known.version !== version) return [`${name} ${version} instead of ${known.version}`];
      return known.sha256 === sha256 ? [] : [`${name} ${version} with other content`];
    }),
    ...measured.filter(({ name }) => !actual.has(name)).map(({ name }) => `${name} is gone`),
  ];
  if (differences.length === 0) return null;
  const more = differences.length > SHOWN ? `, and ${differences.length - SHOWN} more` : '';
  return `${differences.length} of ${fetched.length} packages differ from those that were measured: ${differences
    .slice(0, SHOWN)
    .join(', ')}${more}`;
}
