import { useMemo } from 'react';
import { useLanguage } from './language';

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** Numbers, times and names of countries as the chosen language writes them; times in the reader's zone. */
export function useFormat() {
  const { language } = useLanguage();
  return useMemo(() => {
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
        const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
        const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
        const style = { style: 'unit', unit: units[at] ?? 'byte', maximumFractionDigits: 1 } as const;
        return new Intl.NumberFormat(language, style).format(bytes / 1000 ** at);
      },
      country(code: string): string {
        try {
          return regions.of(code) ?? code;
        } catch {
          return code;
        }
      },
    };
  }, [language]);
}
