/** An HTTP date has 29 characters. */
const MAX_LENGTH = 64;

/**
 * `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3); null when it is absent or
 * says neither. A date that has passed is 0.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  if (text.length > MAX_LENGTH) return null;
  // Date.parse takes much for a date that is none ("1"); an HTTP date has a month's name and a time.
  if (!/[A-Za-z]{3}.{0,60}\d{2}:\d{2}:\d{2}/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
