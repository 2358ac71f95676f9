import type { AlertFilters } from '../queries';
import { isAddress } from './ip-address';

/** The filters of the list as texts, as the form holds them and the address carries them. */
export interface Filters {
  state: 'all' | 'forwarded' | 'filtered' | 'open';
  scenario: string;
  country: string;
  ip: string;
  machineId: string;
  since: string;
  until: string;
}

const STATES = ['all', 'forwarded', 'filtered', 'open'] as const;
const TEXTS = ['scenario', 'country', 'ip', 'machineId', 'since', 'until'] as const;

export function readFilters(query: URLSearchParams): Filters {
  return {
    ...({ scenario: '', country: '', ip: '', machineId: '', since: '', until: '' } as const),
    ...Object.fromEntries(TEXTS.map((name) => [name, query.get(name) ?? ''])),
    state: STATES.find((state) => state === query.get('state')) ?? 'all',
  };
}

export function writeFilters({ state, ...texts }: Filters): URLSearchParams {
  return new URLSearchParams({
    ...(state === 'all' ? {} : { state }),
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value.trim() !== '')),
  });
}

const STATE_QUERY: Readonly<Record<Filters['state'], AlertFilters>> = {
  all: {},
  forwarded: { forwardedToCapi: 'true' },
  filtered: { filtered: 'true' },
  open: { filtered: 'false', forwardedToCapi: 'false' },
};

/** The times that the server takes. */
const EARLIEST = Date.UTC(2020, 0);
const AHEAD_MS = 24 * 3_600_000;

/** Of a year that is typed over, the first digits are years as well: 2 and 20. */
function isInRange(text: string): boolean {
  const at = new Date(text).getTime();
  return at >= EARLIEST && at <= Date.now() + AHEAD_MS;
}

/** Filters of which the server is not asked until their text is whole. */
type WholeFilter = 'country' | 'ip' | 'since' | 'until';

const IS_WHOLE: Readonly<Record<WholeFilter, (text: string) => boolean>> = {
  country: (text) => /^[A-Z]{2}$/i.test(text),
  ip: isAddress,
  since: isInRange,
  until: isInRange,
};
const WHOLE_FILTERS = Object.keys(IS_WHOLE) as WholeFilter[];

/** The filters with a text that does not count: as long as it is being typed, or where it is of another kind. */
export function withoutEffect(filters: Filters): WholeFilter[] {
  return WHOLE_FILTERS.filter((name) => {
    const text = filters[name].trim();
    return text !== '' && !IS_WHOLE[name](text);
  });
}

/** Those that are not asked as they were written. */
const AS_ASKED: Readonly<Partial<Record<keyof Filters, (text: string) => string>>> = {
  country: (text) => text.toUpperCase(),
  since: (text) => new Date(text).toISOString(),
  until: (text) => new Date(text).toISOString(),
};

/** What the server is asked. */
export function queryOf(filters: Filters): AlertFilters {
  const idle: readonly string[] = withoutEffect(filters);
  const asked = TEXTS.filter((name) => filters[name].trim() !== '' && !idle.includes(name)).map((name) => {
    const text = filters[name].trim();
    return [name, AS_ASKED[name]?.(text) ?? text] as const;
  });
  return { ...STATE_QUERY[filters.state], ...Object.fromEntries(asked) };
}

/** The instant that a field of the kind `datetime-local` tells; empty where it tells none. */
export function instantOf(value: string): string {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/**
 * For a field of that kind, in the reader's zone. What was typed comes back to the minute: before 1911 zones are off by
 * minutes and seconds, which `getTimezoneOffset` rounds.
 */
export function localTime(text: string): string {
  const date = new Date(text);
  if (text === '' || Number.isNaN(date.getTime())) return '';
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [String(date.getFullYear()).padStart(4, '0'), two(date.getMonth() + 1), two(date.getDate())];
  return `${day.join('-')}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
