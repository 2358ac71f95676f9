import { isoTime } from '../../../schemas/iso-time.js';

const RFC_5322 =
  /^(?:[A-Za-z]{3},\s*)?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:GMT|UTC|Z|[+-]\d{4})$/;

/** Seconds below this, milliseconds above: 10^11 s is the year 5138, 10^11 ms is 1973. */
const MAX_SECONDS = 1e11;

/**
 * A date as clients send it (ISO 8601, a mail header's form, epoch seconds or milliseconds) in ISO 8601, UTC.
 * A date without a zone is taken as UTC, so that it reads alike on every machine. Null when it is none.
 */
export function isoDate(value: unknown): string | null {
  const time =
    typeof value === 'number' ? epoch(value) : typeof value === 'string' ? parsed(value.trim()) : NaN;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function epoch(value: number): number {
  return Math.abs(value) < MAX_SECONDS ? value * 1000 : value;
}

function parsed(text: string): number {
  return isoTime(text) ?? (RFC_5322.test(text) ? Date.parse(text) : NaN);
}
