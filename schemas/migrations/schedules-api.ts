import { z } from 'zod';
import { PagesPerSecond } from './migrations-api.js';
import { SCHEDULES } from './schedules.js';

/** Bodies of the endpoints of schedules. */

export const ScheduleParams = z.object({ name: z.enum(SCHEDULES) });

const DAY_MINUTES = 24 * 60;

/** Temporal reads the rest. What stands behind a `#` would be a comment, which is where the line itself is kept. */
const CRON =
  /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|(?:(?:CRON_)?TZ=[\w/+-]+ )?(?:[^\s#@]+ ){4,6}[^\s#@]+)$/;

const Note = z.string().trim().min(1).max(1_000);

export const SchedulePut = z
  .strictObject({
    cron: z
      .string()
      .trim()
      .max(200)
      .transform((line) => line.replaceAll(/\s+/g, ' '))
      .pipe(
        z
          .string()
          .regex(CRON, 'must be five to seven fields, such as `0 3 * * 0`, or a word such as `@daily`'),
      )
      .meta({
        description:
          'Five to seven fields or a word such as `@daily`; UTC, unless it begins with `CRON_TZ=Europe/Paris `',
      }),
    window_minutes: z
      .int()
      .min(1)
      .max(7 * DAY_MINUTES)
      .optional()
      .meta({
        description:
          'Of a migration: it stops so long after the start and goes on in the next window; 180 unless given',
      }),
    pages_per_second: PagesPerSecond.optional(),
    paused: z.boolean().optional().meta({ description: 'Unless given it stays as it is' }),
    note: Note.optional().meta({ description: 'Unless given it stays as it is' }),
  })
  .meta({ id: 'SchedulePut' });
export type SchedulePut = z.output<typeof SchedulePut>;

export const ScheduleNote = z.strictObject({ note: Note.optional() }).meta({ id: 'ScheduleNote' });

export const ScheduleBody = z
  .object({
    name: z.enum(SCHEDULES),
    title: z.string(),
    set: z.boolean().meta({ description: 'Whether there is such a schedule; where not, the rest is empty' }),
    cron: z
      .string()
      .nullable()
      .meta({ description: 'Null: it runs by an interval, or was changed elsewhere' }),
    every_minutes: z.number().nullable(),
    window_minutes: z.number().nullable(),
    pages_per_second: z.number().nullable(),
    paused: z.boolean(),
    note: z.string().nullable(),
    overlap: z.string().nullable().meta({ description: 'What is done when the last run still goes on' }),
    catch_up_minutes: z
      .number()
      .nullable()
      .meta({ description: 'A start that was missed is made up for within so long' }),
    running: z.boolean(),
    last_run: z.iso.datetime().nullable(),
    last_result: z
      .record(z.string(), z.number())
      .nullable()
      .meta({ description: 'What the last run that has ended removed, where it says so' }),
    next_runs: z.array(z.iso.datetime()),
  })
  .meta({ id: 'Schedule' });
export type ScheduleBody = z.infer<typeof ScheduleBody>;

export const ScheduleList = z.object({ schedules: z.array(ScheduleBody) }).meta({ id: 'ScheduleList' });
