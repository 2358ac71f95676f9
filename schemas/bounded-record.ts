import { z } from 'zod';

/**
 * Names with values of one kind, `most` of them at most. They are counted before any is looked at: a record lists a
 * fault for each value that is none of its kind, however many there are.
 */
export function boundedRecord<Value extends z.ZodType>(value: Value, most: number) {
  return z.preprocess(
    (given, ctx) => {
      if (typeof given !== 'object' || given === null || Object.keys(given).length <= most) return given;
      ctx.addIssue({ code: 'too_big', origin: 'object', maximum: most, inclusive: true, input: given });
      return z.NEVER;
    },
    z.record(z.string(), value).meta({ maxProperties: most }),
  );
}
