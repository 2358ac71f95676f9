import { formatCount, formatDuration } from './format.js';

/** How far something is. */
export interface Progress {
  phase: string;
  done: number;
  total: number | null;
  unit: string;
}

/** The rate counts what was done within so long. */
const WINDOW_MS = 20_000;
const MIN_SPAN_MS = 1_000;
const BAR_WIDTH = 24;

/** How fast it goes, by what was seen lately. */
export function createMeter() {
  const samples: { at: number; done: number }[] = [];
  return {
    see(done: number, at: number): void {
      samples.push({ at, done });
      while (samples.length > 2 && samples[1]!.at < at - WINDOW_MS) samples.shift();
    },
    /** Of the unit in a second; null: not known yet. */
    rate(): number | null {
      const first = samples[0];
      const last = samples.at(-1);
      if (first === undefined || last === undefined || last.at - first.at < MIN_SPAN_MS) return null;
      return (1000 * (last.done - first.done)) / (last.at - first.at);
    },
  };
}

/** Everything about it in one line, such as `copying: 1,200 of 2,600 chunks (46 %), 310/s, 5 s left`. */
export function progressWords({ phase, done, total, unit }: Progress, rate: number | null): string {
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  const share = total ? ` (${percent(done, total)} %)` : '';
  return [`${phase}: ${formatCount(done)}${of} ${unit}${share}`, ...speedWords({ done, total }, rate)].join(
    ', ',
  );
}

/** The same with a bar, no longer than the terminal is wide. */
export function progressBar(progress: Progress, rate: number | null, columns: number): string {
  const { done, total } = progress;
  if (!total) return progressWords(progress, rate).slice(0, columns - 1);
  const filled = Math.round((BAR_WIDTH * Math.min(done, total)) / total);
  const bar = `[${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}]`;
  return `${bar} ${progressWords(progress, rate)}`.slice(0, columns - 1);
}

function percent(done: number, total: number): number {
  return Math.min(100, Math.floor((100 * done) / total));
}

function speedWords({ done, total }: Pick<Progress, 'done' | 'total'>, rate: number | null): string[] {
  if (rate === null || rate <= 0) return [];
  const speed = `${rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate))}/s`;
  if (total === null || done >= total) return [speed];
  return [speed, `${formatDuration((1000 * (total - done)) / rate)} left`];
}
