import type { DurationCategory } from '../../../schemas/statistics.js';

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

const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/y;
/** A duration that Go writes is far shorter; a longer text is none. */
const LONGEST = 64;

/**
 * A duration as Go's `time.ParseDuration` reads it ("4h0m0s", "1h30m", "300ms", "-1.5h"), in seconds; days are taken
 * as well. Null for any other text.
 */
export const goDurationSeconds = (text: string): number | null => {
  if (text.length > LONGEST) return null;
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

/** The four classes (proxy spec, section 2). A text that is no duration has none. */
export const durationCategory = (text: string): DurationCategory | null => {
  const seconds = goDurationSeconds(text);
  if (seconds === null) return null;
  const hours = seconds / 3600;
  if (hours < 1) return '<1h';
  if (hours < 24) return '1-24h';
  return hours < 168 ? '1-7d' : '>7d';
};
