import type { z } from 'zod';
import { ProviderFailure } from './provider-failure.js';

/** A provider's answer in the shape it should have. @throws ProviderFailure `bad-answer` that names the first fault */
export const readAs = <Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  what: string,
): z.output<Schema> => {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ProviderFailure(
    'bad-answer',
    `the provider's ${what} has another form than expected (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
  );
};
