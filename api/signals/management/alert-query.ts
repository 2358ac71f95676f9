import { isIP } from 'node:net';
import type { AlertQuery } from '../../../activities/ports/signals.js';
import { AppError } from '../../../schemas/app-error.js';
import type { AlertFilters } from '../../../schemas/signals/proxy-api.js';

const EARLIEST = Date.UTC(2020, 0);
const AHEAD_MS = 24 * 3_600_000;
const DATES = [
  ['since', 'Since'],
  ['until', 'Until'],
  ['newerThan', 'newerThan'],
] as const;

/**
 * The filters of a request as the store takes them, after the checks that look at more than their form.
 * @throws AppError BAD_REQUEST for an `ip` that is no address, and for dates before 2020 or over a day ahead
 */
export const alertQuery = (filters: AlertFilters, now: Date): AlertQuery => {
  if (filters.ip !== undefined && isIP(filters.ip) === 0)
    throw new AppError('BAD_REQUEST', 'Invalid IP address format');
  for (const [name, shown] of DATES) {
    const time = filters[name]?.getTime();
    if (time !== undefined && (time < EARLIEST || time > now.getTime() + AHEAD_MS))
      throw new AppError('BAD_REQUEST', `${shown} date out of acceptable range`);
  }
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  // Beyond this no number is exact, and no store holds so many.
  const offset = Math.min(filters.offset, Number.MAX_SAFE_INTEGER);
  return { ...Object.fromEntries(given), limit: filters.limit, offset };
};
