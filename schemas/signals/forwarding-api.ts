import { z } from 'zod';
import { dateTime, pageFilters } from './proxy-api.js';

/** Bodies of the endpoints that steer the forwarding of signals. */

export const WatcherParams = z.object({
  watcher: z
    .string()
    .min(1, 'must NOT have fewer than 1 characters')
    .max(200, 'must NOT have more than 200 characters'),
});

export const QuarantineFilters = z.object({
  watcher: z.string('must be string').max(200, 'must NOT have more than 200 characters').optional(),
  ...pageFilters,
});

export const QuarantinedSignal = z
  .object({
    id: z.int().meta({ description: 'Of the alert' }),
    watcher: z.string(),
    version: z.enum(['v2', 'v3']),
    scenario: z.string(),
    sourceValue: z.string().nullable(),
    receivedAt: z.string(),
    reason: z.string(),
    bytes: z.int(),
    releasable: z.boolean().meta({ description: 'False when it was too large to be kept' }),
  })
  .meta({ id: 'QuarantinedSignal' });

/** What an operator's word did. `actorTold` is false while Temporal is away; the actor finds out by itself then. */
export const WatcherSteered = z
  .object({ watcher: z.string(), paused: z.boolean(), actorTold: z.boolean() })
  .meta({ id: 'WatcherSteered' });

export const DeferredReleased = z
  .object({
    watcher: z.string(),
    released: z.int(),
    left: z.boolean().meta({ description: 'There may be more: ask again' }),
  })
  .meta({ id: 'WithheldReleased' });

export const DiscardWaiting = z.object({
  reason: z
    .string('must be string')
    .trim()
    .min(1, 'must NOT have fewer than 1 characters')
    .max(500, 'must NOT have more than 500 characters')
    .meta({ description: 'Kept with each signal, and in the log' }),
  deferred: z.boolean('must be boolean').default(false).meta({
    description:
      'Instead of what waits, what was withheld while forwarding was switched off, or by a restore; also while it is off',
  }),
  receivedUntil: dateTime
    .meta({
      description:
        'What was received later is not meant, as in a request that goes on with one before; unset, or later than now: now',
    })
    .optional(),
});

export const WaitingDiscarded = z
  .object({
    watcher: z.string(),
    discarded: z.int(),
    left: z.boolean().meta({ description: 'There may be more: ask again, with this `receivedUntil`' }),
    receivedUntil: z
      .string()
      .meta({ description: 'What was received later was not meant: it waits, and is sent' }),
  })
  .meta({ id: 'WaitingDiscarded' });

export const QuarantineDecided = z
  .object({ id: z.int(), state: z.enum(['waiting', 'discarded']) })
  .meta({ id: 'QuarantineDecided' });
