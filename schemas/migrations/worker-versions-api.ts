import { z } from 'zod';

/** Bodies of the endpoints of worker versions. */

export const WorkerVersionParams = z.object({ build_id: z.string().min(1).max(100) });

export const WorkerVersionList = z
  .object({
    versions: z.array(
      z.object({
        build_id: z.string(),
        state: z.enum(['current', 'waiting', 'draining', 'drained']).meta({
          description:
            '`current` takes new work, `waiting` was not promoted, `draining` has begun documents that are not through, ' +
            '`drained` has none: its workers can be stopped',
        }),
        since: z.iso.datetime().meta({ description: 'When the first worker of the release came' }),
      }),
    ),
  })
  .meta({ id: 'WorkerVersionList' });
