import type { Command } from 'commander';
import type { z } from 'zod';
import { SCHEDULES } from '../../../../schemas/migrations/schedules.js';
import type { ScheduleBody, ScheduleList } from '../../../../schemas/migrations/schedules-api.js';
import { count, pages } from '../arguments.js';
import type { Context, Run } from '../context.js';
import { formatTable, formatTime } from '../format.js';

const NAMES = `one of ${SCHEDULES.join(', ')}`;

function pathOf(name: string, word = ''): string {
  return `/admin/schedules/${encodeURIComponent(name)}${word === '' ? '' : `/${word}`}`;
}

/** `tamis schedule` and `tamis reconcile`: what runs by the clock. */
export function addSchedule(program: Command, run: Run): void {
  const schedule = program
    .command('schedule')
    .description('what runs by the clock: the reconciler, retention, migrations in windows');
  schedule.command('list').description('when each runs, and when next').action(run(list));
  schedule
    .command('set')
    .description('say when it runs; what is not given of pause and note stays as it is')
    .argument('<name>', NAMES)
    .requiredOption('--cron <line>', "five fields such as '0 3 * * 0', in UTC, or a word such as @daily")
    .option(
      '--window-minutes <n>',
      'of a migration: stop so long after the start and go on next time',
      count(1),
    )
    .option('--pages-per-second <n>', 'of a migration: go no faster than this', pages)
    .option('--paused', 'set it and start nothing yet')
    .option('--note <text>', 'why, for later readers')
    .action(run(set));
  schedule
    .command('remove')
    .description('remove the schedule of a migration')
    .argument('<name>', NAMES)
    .option('-y, --yes', 'do not ask')
    .action(
      run(async (context, options: { yes?: boolean }, name: string) => {
        await context.confirm(`Remove the schedule ${name}?`, options);
        await context.gateway().ask('DELETE', pathOf(name));
        context.show({ name, removed: true }, [`The schedule ${name} is removed.`]);
      }),
    );
  for (const word of ['pause', 'resume'] as const)
    schedule
      .command(word)
      .description(word === 'pause' ? 'start nothing by it until it is resumed' : 'let it go on')
      .argument('<name>', NAMES)
      .option('--note <text>', 'why, for later readers')
      .action(
        run(async (context, { note }: { note?: string }, name: string) => {
          await context.gateway().ask('POST', pathOf(name, word), note === undefined ? {} : { note });
          context.show({ name, asked: word }, [`The schedule ${name} is ${word}d.`]);
        }),
      );
  schedule
    .command('run')
    .description('start now what it starts, unless the last run still goes on')
    .argument('<name>', NAMES)
    .action(run((context, _options, name: string) => runNow(context, name)));

  program
    .command('reconcile')
    .description('remove chunks and bytes that no record refers to, now')
    .action(run((context) => runNow(context, 'reconcile')));
}

async function list(context: Context): Promise<void> {
  const body = await context.gateway().ask<z.output<typeof ScheduleList>>('GET', '/admin/schedules');
  const rows = body.schedules.map((row) => [row.name, timeWords(row), nextWords(row), row.note ?? '']);
  context.show(body, formatTable(['SCHEDULE', 'WHEN', 'NEXT', 'NOTE'], rows));
}

function timeWords(row: ScheduleBody): string {
  if (!row.set) return 'not set';
  const time =
    row.cron ?? (row.every_minutes === null ? 'as set elsewhere' : `every ${row.every_minutes} min`);
  return row.window_minutes === null ? time : `${time}, for ${row.window_minutes} min`;
}

function nextWords({ paused, running, next_runs }: ScheduleBody): string {
  if (paused) return 'paused';
  return running ? 'running' : formatTime(next_runs[0]);
}

interface SetOptions {
  cron: string;
  windowMinutes?: number;
  pagesPerSecond?: number;
  paused?: boolean;
  note?: string;
}

async function set(context: Context, options: SetOptions, name: string): Promise<void> {
  const body = await context.gateway().ask<ScheduleBody>('PUT', pathOf(name), {
    cron: options.cron,
    ...(options.windowMinutes === undefined ? {} : { window_minutes: options.windowMinutes }),
    ...(options.pagesPerSecond === undefined ? {} : { pages_per_second: options.pagesPerSecond }),
    ...(options.paused === undefined ? {} : { paused: options.paused }),
    ...(options.note === undefined ? {} : { note: options.note }),
  });
  context.show(body, [
    `${body.name}: ${timeWords(body)}; next: ${nextWords(body)}`,
    `  when the last run still goes on: ${body.overlap}; missed starts are made up for within ${body.catch_up_minutes} min`,
  ]);
}

async function runNow(context: Context, name: string): Promise<void> {
  await context.gateway().ask('POST', pathOf(name, 'run'));
  context.show({ name, asked: 'run' }, [`${name} is started, unless its last run still goes on.`]);
}
