const ISO_8601 =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const RFC_5322 =
  /^(?:[A-Za-z]{3},\s*)?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:GMT|UTC|Z|[+-]\d{4})$/;

/** Seconds below this, milliseconds above: 10^11 s is the year 5138, 10^11 ms is 1973. */
const MOST_SECONDS = 1e11;

/**
 * A date as clients send it (ISO 8601, a mail header's form, epoch seconds or milliseconds) in ISO 8601, UTC.
 * A date without a zone is taken as UTC, so that it reads alike on every machine. Null when it is none.
 */
export const isoDate = (value: unknown): string | null => {
  const time =
    typeof value === 'number' ? epoch(value) : typeof value === 'string' ? parsed(value.trim()) : NaN;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
};

const epoch = (value: number): number => (Math.abs(value) < MOST_SECONDS ? value * 1000 : value);

const parsed = (text: string): number => {
  const iso = ISO_8601.exec(text);
  if (iso === null) return RFC_5322.test(text) ? Date.parse(text) : NaN;
  const zone = iso.groups?.['zone'];
  const local = (zone === undefined ? text : text.slice(0, -zone.length))
    .trim()
    .replace(',', '.')
    .replace(' ', 'T');
  if (local.length === 10) return Date.parse(local);
  return Date.parse(`${local}${zone === undefined ? 'Z' : offset(zone)}`);
};

/** `+01`, `+0100` and `+01:00` in the one form that every JavaScript engine reads. */
const offset = (zone: string): string => {
  if (/^z$/i.test(zone)) return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
};
