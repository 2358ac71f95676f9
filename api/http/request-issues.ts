import type { z } from 'zod';
import { invalidRequest } from '../../schemas/request-issues.js';
import type { RequestIssue } from '../../schemas/request-issues.js';

const MAX_ECHO_LENGTH = 200;
const MAX_ISSUES = 100;
const MAX_MESSAGE_LENGTH = 1_000;

/** A part of so many values is read to its end for all of its faults. */
const MAX_VALUES = 10_000;

/**
 * Lists, objects and records end at their first fault. Zod hands `abortEarly` through from its own `validate`, which
 * names no fault; a list of millions of wrong items would otherwise take gigabytes of faults.
 */
const TO_FIRST_FAULT = { reportInput: true, abortEarly: true };

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

/** Whether lists and objects hold `MAX_VALUES` in all at most; no more of them are looked at. */
function hasFewValues(value: unknown): boolean {
  const open = [value];
  for (let at = 0; at < open.length; at++) {
    const item = open[at];
    if (typeof item !== 'object' || item === null) continue;
    const inner: readonly unknown[] = Array.isArray(item) ? item : Object.values(item);
    if (open.length + inner.length > MAX_VALUES) return false;
    open.push(...inner);
  }
  return true;
}

function present(issue: z.core.$ZodIssue, place: string, isSmall: boolean): RequestIssue {
  const { code, path, input, message } = issue;
  const steps = path.map((step) =>
    typeof step === 'number' ? step : String(step).slice(0, MAX_ECHO_LENGTH),
  );
  const missing = code === 'invalid_type' && input === undefined;
  return {
    type: missing ? 'missing' : code,
    loc: [place, ...steps],
    msg: missing ? 'Field required' : message.slice(0, MAX_MESSAGE_LENGTH),
    input: (isSmall || typeof input !== 'object' ? echo(input) : null) ?? null,
  };
}

/**
 * Parses one part of a request.
 * @throws AppError VALIDATION_ERROR (422) with the first issues under `details.issues`; of a large part with one
 */
export function parsePart(schema: z.ZodType, value: unknown, place: 'path' | 'query' | 'body'): unknown {
  const parsed = schema.safeParse(value, TO_FIRST_FAULT);
  if (parsed.success) return parsed.data;
  const isSmall = hasFewValues(value);
  const all = isSmall ? schema.safeParse(value, { reportInput: true }).error : undefined;
  const issues = (all ?? parsed.error).issues.slice(0, MAX_ISSUES);
  throw invalidRequest(issues.map((issue) => present(issue, place, isSmall)));
}
