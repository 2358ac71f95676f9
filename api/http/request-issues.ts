import type { z } from 'zod';
import { invalidRequest } from '../../schemas/request-issues.js';

const MAX_ECHO_LENGTH = 200;

/** Length as JSON; null for what is nested too deep to be written. */
function lengthOf(input: object): number | null {
  try {
    return JSON.stringify(input).length;
  } catch {
    return null;
  }
}

/** Echoes what was sent, but never at length: a wrong field must not return a megabyte. */
function echo(input: unknown): unknown {
  if (typeof input === 'string') return input.slice(0, MAX_ECHO_LENGTH);
  if (typeof input === 'object' && input !== null)
    return (lengthOf(input) ?? Infinity) <= MAX_ECHO_LENGTH ? input : undefined;
  return typeof input === 'bigint' ? String(input) : input;
}

/**
 * Parses one part of a request.
 * @throws AppError VALIDATION_ERROR (422) with the issues under `details.issues`
 */
export function parsePart(schema: z.ZodType, value: unknown, place: 'path' | 'query' | 'body'): unknown {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalidRequest(
    parsed.error.issues.map((issue) => {
      const missing = issue.code === 'invalid_type' && issue.input === undefined;
      return {
        type: missing ? 'missing' : issue.code,
        loc: [place, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))],
        msg: missing ? 'Field required' : issue.message,
        input: echo(issue.input) ?? null,
      };
    }),
  );
}
