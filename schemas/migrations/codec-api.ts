import { z } from 'zod';
import { boundedRecord } from '../bounded-record.js';

const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'must be base64');

/** What a codec server of Temporal's takes and answers: payloads in the JSON form of their message. */
export const CodecBody = z
  .object({
    payloads: z
      .array(
        z.object({
          metadata: boundedRecord(base64, 100).default({}),
          data: base64.default(''),
        }),
      )
      .max(10_000),
  })
  .meta({ id: 'CodecBody' });
