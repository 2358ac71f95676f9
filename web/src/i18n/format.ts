import { useLanguage } from './language';
import type { Language } from './messages';

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

function makeFormat(language: Language) {
  const number = new Intl.NumberFormat(language);
  const percent = new Intl.NumberFormat(language, { style: 'percent' });
  const score = new Intl.NumberFormat(language, { maximumFractionDigits: 3 });
  const gain = new Intl.NumberFormat(language, { maximumFractionDigits: 3, signDisplay: 'exceptZero' });
  const seconds = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'second',
    maximumFractionDigits: 1,
  } as const);
  const millis = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'millisecond',
    maximumFractionDigits: 0,
  } as const);
  const sizes = UNITS.map(
    (unit) => new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits: 1 }),
  );
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long' });
  const short = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const regions = new Intl.DisplayNames(language, { type: 'region' });
  return {
    number: (value: number) => number.format(value),
    percent: (value: number) => percent.format(value),
    score: (value: number) => score.format(value),
    /** A difference of two scores, with its sign. */
    gain: (value: number) => gain.format(value),
    /** A duration that was measured in milliseconds. */
    seconds: (ms: number) => (ms < 1000 ? millis.format(ms) : seconds.format(ms / 1000)),
    exact: (time: string) => exact.format(new Date(time)),
    short: (time: string) => short.format(new Date(time)),
    /** A day of UTC, by its seconds since 1970. */
    day: (seconds: number) => day.format(new Date(seconds * 1000)),
    /** In words within a month, a date beyond. */
    relative(time: string): string {
      const away = new Date(time).getTime() - Date.now();
      if (Math.abs(away) > 30 * 86_400_000) return short.format(new Date(time));
      const [unit, size] = STEPS.find(([, step]) => Math.abs(away) >= step) ?? ['second', 1000];
      return relative.format(Math.round(away / size), unit);
    },
    /** A number of bytes. */
    size(bytes: number): string {
      const power = Math.floor(Math.log10(Math.max(1, bytes)) / 3);
      const at = Math.min(UNITS.length - 1, Math.max(0, power));
      return sizes[at]!.format(bytes / 1000 ** at);
    },
    country(code: string): string {
      try {
        return regions.of(code) ?? code;
      } catch {
        return code;
      }
    },
  };
}

/** A set takes some 20 ms to make, and every cell of a table asks for one. */
const made = new Map<Language, ReturnType<typeof makeFormat>>();

/** Numbers, times and names of countries as the chosen language writes them; times in the reader's zone. */
export function useFormat(): ReturnType<typeof makeFormat> {
  const { language } = useLanguage();
  const format = made.get(language) ?? makeFormat(language);
  made.set(language, format);
  return format;
}
