const MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // The micro sign and the Greek letter.
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  // Not Go's own: `cscli decisions add --duration 7d` takes it.
  d: 86_400_000,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h|d)/y;

/** A duration that Go writes is far shorter; a longer text is none. */
const MAX_LENGTH = 64;

/**
 * A duration as Go's `time.ParseDuration` reads it (`3h59m59.5s`, `-5m`, `300ms`, `0`) in milliseconds; days are taken
 * as well. Null for any other text.
 */
export function goDurationMs(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  const rest = text.replace(/^[+-]/, '');
  if (rest === '') return null;
  if (rest === '0') return 0;
  let total = 0;
  let at = 0;
  while (at < rest.length) {
    PART.lastIndex = at;
    const part = PART.exec(rest);
    if (part === null) return null;
    total += Number(part[1]) * (MS[part[2] ?? ''] ?? NaN);
    at = PART.lastIndex;
  }
  return text.startsWith('-') ? -total : total;
}

/** Whole seconds as Go writes them: `3h59m59s`, `59s`. */
export function goDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = `${seconds % 60}s`;
  return hours > 0 ? `${hours}h${minutes}m${rest}` : minutes > 0 ? `${minutes}m${rest}` : rest;
}
