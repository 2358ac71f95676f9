import { z } from 'zod';

/** A moment in an answer of the management side; null where there was none. */
export const instant = z.string().nullable().meta({ description: 'ISO 8601 in UTC' });
