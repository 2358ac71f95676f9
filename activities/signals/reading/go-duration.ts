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
  for (const [, count, unit] of match[2]!.matchAll(
    /(?<![\d.])(\d+(?:\.\d*)?|\.\d+)(h|ms|m|us|\u00b5s|\u03bcs|ns|s)/g,
  ))
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

const SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  // Not Go's own: `cscli decisions add --duration 7d` takes it.
  d: 86_400,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/y;

/** A duration that Go writes is far shorter; a longer text is none. */
const MAX_LENGTH = 64;

/**
 * A duration as Go's `time.ParseDuration` reads it ("4h0m0s", "1h30m", "300ms", "-1.5h"), in seconds; days are taken
 * as well. Null for any other text.
 */
export const goDurationSeconds = (text: string): number | null => {
  if (text.length > MAX_LENGTH) return null;
  const sign = text.startsWith('-') ? -1 : 1;
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  let seconds = 0;
  let at = 0;
  while (at < rest.length) {
    PART.lastIndex = at;
    const part = PART.exec(rest);
    if (part === null) return null;
    seconds += Number(part[1]) * (SECONDS[part[2] ?? ''] ?? NaN);
    at = PART.lastIndex;
  }
  return rest === '' ? null : sign * seconds;
};
