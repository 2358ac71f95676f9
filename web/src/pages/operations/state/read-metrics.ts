/** Sums over the samples of each series of the text format of Prometheus, whatever their labels. */
export function readMetrics(text: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-z_][a-z0-9_]*)(?:\{.*\})? (\S+)/i.exec(line) ?? [];
    const amount = Number(value);
    if (name !== undefined && Number.isFinite(amount)) sums.set(name, (sums.get(name) ?? 0) + amount);
  }
  return sums;
}
