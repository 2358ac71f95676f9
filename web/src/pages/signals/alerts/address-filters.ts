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

function time(text: string): string | undefined {
  const date = new Date(text);
  return text === '' || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Filters of which the server is not asked until their text is whole. */
type WholeFilter = 'country' | 'ip';

const IS_WHOLE: Readonly<Record<WholeFilter, (text: string) => boolean>> = {
  country: (text) => /^[A-Z]{2}$/i.test(text),
  ip: isAddress,
};
const WHOLE_FILTERS = Object.keys(IS_WHOLE) as WholeFilter[];

/** The filters with a text that does not count: as long as it is being typed, or where it is of another kind. */
export function withoutEffect(filters: Filters): WholeFilter[] {
  return WHOLE_FILTERS.filter((name) => {
    const text = filters[name].trim();
    return text !== '' && !IS_WHOLE[name](text);
  });
}

/** What the server is asked. */
export function queryOf(filters: Filters): AlertFilters {
  const { scenario, machineId, since, until } = filters;
  const idle = withoutEffect(filters);
  const country = idle.includes('country') ? '' : filters.country.trim().toUpperCase();
  const ip = idle.includes('ip') ? '' : filters.ip.trim();
  const [from, to] = [time(since), time(until)];
  return {
    ...STATE_QUERY[filters.state],
    ...(scenario.trim() === '' ? {} : { scenario: scenario.trim() }),
    ...(country === '' ? {} : { country }),
    ...(ip === '' ? {} : { ip }),
    ...(machineId.trim() === '' ? {} : { machineId: machineId.trim() }),
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
  };
}

/** For a field of the kind `datetime-local`, in the reader's zone. */
export function localTime(text: string): string {
  const date = new Date(text);
  if (text === '' || Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
