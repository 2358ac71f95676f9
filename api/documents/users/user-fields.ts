import { z } from 'zod';
import type { UserPatch } from '../../../schemas/documents/users.js';
import type { UserInput } from '../../../schemas/documents/users-api.js';
import { badRequest } from '../../../schemas/request-issues.js';

const MAX_LENGTH = 255;

/** Nothing, or a text that is short enough and not blank; a blank one is nothing. */
function shortText(name: string, value: string | null | undefined): string | null | undefined {
  if (value === undefined || value === null) return value;
  const text = value.trim();
  if ([...text].length > MAX_LENGTH)
    throw badRequest(`${name} must not be longer than ${MAX_LENGTH} characters`);
  return text === '' ? null : text;
}

/**
 * What a client says of a user, checked; fields that it leaves out stay out.
 * @throws AppError BAD_REQUEST (400), plain
 */
export function readUserFields(input: UserInput): UserPatch {
  const email = shortText('email', input.email);
  if (email != null && !z.email().safeParse(email).success) throw badRequest('email is not a mail address');
  const given: { [K in keyof UserPatch]: UserPatch[K] | undefined } = {
    display_name: shortText('display_name', input.display_name),
    external_user_id: shortText('external_user_id', input.external_user_id),
    email,
    is_admin: input.is_admin,
    file_quota: input.file_quota,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
