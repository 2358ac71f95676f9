const UNITS: Readonly<Record<string, number>> = {
  ...{ h: 3_600_000, m: 60_000, s: 1000, ms: 1 },
  ...{ us: 1e-3, '\u00b5s': 1e-3, '\u03bcs': 1e-3, ns: 1e-6 },
};

/** A duration as Go writes it (`3h59m59.5s`, `-5m`, `300ms`, `0`) in milliseconds; null for any other text. */
export const goDurationMs = (text: string): number | null => {
  if (text.length > 100) return null;
  if (/^[+-]?0$/.test(text)) return 0;
  const match = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|m|us|\u00b5s|\u03bcs|ns|s))+)$/.exec(text);
  if (match === null) return null;
  let total = 0;
  for (const [, count, unit] of match[2]!.matchAll(/(\d+(?:\.\d*)?|\.\d+)(h|ms|m|us|\u00b5s|\u03bcs|ns|s)/g))
    total += Number(count) * UNITS[unit!]!;
  return match[1] === '-' ? -total : total;
};

/** Whole seconds as Go writes them: `3h59m59s`, `59s`. */
export const goDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = `${seconds % 60}s`;
  return hours > 0 ? `${hours}h${minutes}m${rest}` : minutes > 0 ? `${minutes}m${rest}` : rest;
};
