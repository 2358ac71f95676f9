import { z } from 'zod';
import { IMPORT_SOURCE_PATTERN, IMPORT_STATES } from './imports.js';

/** Bodies of the endpoints of imports. */

const SourceId = z
  .string()
  .regex(IMPORT_SOURCE_PATTERN, 'must be 1 to 63 of a-z 0-9 -')
  .meta({ description: 'What you call the source; a later import under this name goes on where it stands' });

export const ImportParams = z.object({ source_id: SourceId });

const MAX_URL = 2048;
const MAX_TOKEN = 4096;

export const ImportStart = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
      .max(MAX_URL)
      .optional()
      .meta({ description: 'Where the source answers; needed the first time, kept afterwards' }),
    token: z
      .string()
      .regex(/^[\x21-\x7e]+$/, 'must be plain text without spaces')
      .max(MAX_TOKEN)
      .optional()
      .meta({ description: 'Of an administrator of the source; likewise, sealed with SECRETS_KEY' }),
    dry_run: z.boolean().default(false).meta({ description: 'Count what would be done, and change nothing' }),
    requests_per_second: z
      .number()
      .positive()
      .max(1_000)
      .default(20)
      .meta({ description: 'Of the source, at most' }),
  })
  .meta({ id: 'ImportStart' });

export const ImportStarted = z.object({ run_id: z.string() }).meta({ id: 'ImportStarted' });

export const ImportRunBody = z
  .object({
    run_id: z.string(),
    source_id: z.string(),
    dry_run: z.boolean(),
    state: z.enum(IMPORT_STATES),
    phase: z.string().meta({ description: 'What is being done, in plain words' }),
    done: z.int().meta({ description: 'Files that were looked at' }),
    total: z.int().nullable(),
    figures: z.record(z.string(), z.number()),
    refused: z
      .array(z.object({ partition: z.string(), file_id: z.string(), code: z.string(), message: z.string() }))
      .meta({ description: 'The first files that could not be taken' }),
    started_by: z.string().meta({ description: 'The id of the user, to whom the files belong' }),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    started_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ImportRun' });
export type ImportRunBody = z.infer<typeof ImportRunBody>;

export const ImportList = z
  .object({
    sources: z.array(
      z.object({
        source_id: z.string(),
        url: z.string(),
        latest: ImportRunBody.nullable().meta({ description: 'Its latest run' }),
      }),
    ),
  })
  .meta({ id: 'ImportList' });
export type ImportList = z.infer<typeof ImportList>;

export const ImportRuns = z.object({ runs: z.array(ImportRunBody) }).meta({ id: 'ImportRuns' });
export type ImportRuns = z.infer<typeof ImportRuns>;
