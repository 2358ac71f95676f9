const ISO_8601 =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Years of four digits: what every store can keep. */
export const MIN_TIME = Date.parse('0000-01-01T00:00:00.000Z');
export const MAX_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Milliseconds since 1970 of an ISO 8601 date or date and time; null when the text is none. Without a zone it is UTC,
 * so that it reads alike on every machine.
 */
export function isoTime(text: string): number | null {
  const iso = ISO_8601.exec(text);
  if (iso === null) return null;
  const zone = iso.groups?.['zone'];
  const local = (zone === undefined ? text : text.slice(0, -zone.length))
    .trim()
    .replace(',', '.')
    .replace(' ', 'T');
  const time = Date.parse(local.length === 10 ? local : `${local}${zone === undefined ? 'Z' : offset(zone)}`);
  return time >= MIN_TIME && time <= MAX_TIME ? time : null;
}

/** `+01`, `+0100` and `+01:00` in the one form that every JavaScript engine reads. */
function offset(zone: string): string {
  if (/^z$/i.test(zone)) return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
