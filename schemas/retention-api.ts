import { z } from 'zod';

/** A century; more than that is a slip. */
export const MAX_RETENTION_DAYS = 36_500;

/** What retention would take now; `?days=` asks as if it were kept so long. */
export const RetentionBody = z
  .object({
    records: z.array(
      z.object({
        of: z.enum(['tasks', 'callbacks', 'alerts', 'quarantine']),
        days: z.int().meta({ description: 'they are kept so long; 0: for good' }),
        before: z.string().nullable().meta({ description: 'what is older goes; null: nothing does' }),
        due: z.int(),
        more: z.boolean().meta({ description: 'there are more than were counted' }),
      }),
    ),
  })
  .meta({ id: 'Retention' });
export type RetentionBody = z.output<typeof RetentionBody>;
export type RetentionRow = RetentionBody['records'][number];
