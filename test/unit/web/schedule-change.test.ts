import { expect, test } from '@jest/globals';
import { SchedulePut } from '../../../schemas/migrations/schedules-api.js';
import { loadWeb } from '../../support/load-web.js';

interface Kept {
  window_minutes: number | null;
  pages_per_second: number | null;
}
const { scheduleChange } = await loadWeb<{ scheduleChange(schedule: Kept, cron: string): object }>(
  'pages/operations/state/schedule-change',
);

test('another time leaves a migration its window and its pace', () => {
  const work = { window_minutes: 60, pages_per_second: 2 };
  const change = scheduleChange(work, '0 4 * * 0');
  expect(change).toEqual({ cron: '0 4 * * 0', ...work });
  expect(SchedulePut.safeParse(change).success).toBe(true);
});

test('what runs in no windows, such as a routine, is told of none', () => {
  expect(scheduleChange({ window_minutes: null, pages_per_second: null }, '@daily')).toEqual({
    cron: '@daily',
  });
  expect(scheduleChange({ window_minutes: 60, pages_per_second: null }, '@daily')).toEqual({
    cron: '@daily',
    window_minutes: 60,
  });
});
