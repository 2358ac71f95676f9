import { z } from 'zod';
import { instant } from './instant.js';

/** Bodies of the endpoints about rules for signals. */

export const RulesBody = z
  .object({
    mode: z.enum(['block', 'allow']),
    version: z.string().meta({ description: 'Recorded with each alert that these rules were evaluated for' }),
    loadedAt: z.string(),
    rules: z.array(
      z.object({
        name: z.string(),
        description: z.string().nullable(),
        enabled: z.boolean(),
        watchers: z.array(z.string()).nullable().meta({ description: 'null: it applies to all' }),
        file: z.string().nullable(),
        filter: z.unknown(),
        matches: z.int().meta({ description: 'Stored alerts that it matched' }),
        lastMatch: instant,
      }),
    ),
    faults: z.array(z.object({ file: z.string(), message: z.string() })),
  })
  .meta({ id: 'FiltersBody' });

export const PreviewRequest = z
  .object({
    filter: z.unknown().meta({ description: 'The expression of a rule' }),
    watchers: z
      .union([z.string(), z.array(z.string()).max(100)], 'must be string or array')
      .optional()
      .meta({ description: 'As in a rule: names or patterns' }),
    limit: z
      .int('must be integer')
      .min(1, 'must be >= 1')
      .max(10_000, 'must be <= 10000')
      .default(1000)
      .meta({ description: 'So many of the newest stored signals are looked at' }),
  })
  .meta({ id: 'PreviewRequest' });

export const PreviewBody = z
  .object({
    scanned: z.int(),
    complete: z.boolean().meta({ description: 'False when time ran out before the limit was reached' }),
    matched: z.int(),
    newlyMatched: z.int().meta({ description: 'Of those, signals that were not held back' }),
    notes: z
      .array(z.string())
      .meta({ description: 'Parts of the rule that do nothing, and fields that no signal has' }),
    samples: z.array(
      z.object({
        id: z.int(),
        watcher: z.string(),
        receivedAt: z.string(),
        scenario: z.string(),
        sourceValue: z.string().nullable(),
        filtered: z.boolean(),
        ruleSet: z.string().nullable().meta({ description: 'Version of the rules that were evaluated' }),
        reason: z.string(),
      }),
    ),
  })
  .meta({ id: 'PreviewBody' });
