/** How things look to people. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

export function formatDuration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** To the second, in UTC. */
export function formatTime(iso: string | null | undefined): string {
  return iso == null ? '-' : iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, 'Z');
}

/** Columns that stand below each other; the last one is as long as it is. */
export function formatTable(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === heads.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(heads), ...rows.map(line)];
}

/** Names and values, one to a line, what is in them indented. */
export function formatFacts(value: unknown, indent = ''): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${indent}none`];
    return value.flatMap((item: unknown) =>
      isNested(item) ? withDash(formatFacts(item, `${indent}  `), indent) : [`${indent}- ${String(item)}`],
    );
  }
  if (typeof value !== 'object' || value === null) return [`${indent}${String(value ?? '-')}`];
  return Object.entries(value).flatMap(([name, inner]) => {
    const label = `${indent}${name.replaceAll('_', ' ')}:`;
    return isNested(inner)
      ? [label, ...formatFacts(inner, `${indent}  `)]
      : [`${label} ${String(inner ?? '-')}`];
  });
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function withDash([first = '', ...rest]: string[], indent: string): string[] {
  return [`${indent}- ${first.trimStart()}`, ...rest];
}
