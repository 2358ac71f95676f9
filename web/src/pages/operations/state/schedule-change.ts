import type { Schedule } from './queries';

type Kept = Pick<Schedule, 'window_minutes' | 'pages_per_second'>;

interface ScheduleChange {
  cron: string;
  window_minutes?: number;
  pages_per_second?: number;
}

/** When it runs from now on. The server takes its defaults for a window and a pace that are not said again. */
export function scheduleChange({ window_minutes, pages_per_second }: Kept, cron: string): ScheduleChange {
  return {
    cron,
    ...(window_minutes !== null && { window_minutes }),
    ...(pages_per_second !== null && { pages_per_second }),
  };
}
