import { z } from 'zod';
import { queryNumber } from './documents-api.js';
import { ROLES } from './users.js';

/** Request and answer bodies of users and members (wire contract, sections 1.5 and 1.7). */

const Quota = z.int().min(-1).meta({ description: 'Files; -1: no limit' });

/** Lengths and forms are the handler's to refuse: the contract answers 400 there, and not 422. */
const fields = {
  display_name: z.string().nullish(),
  external_user_id: z.string().nullish(),
  email: z.string().nullish(),
  file_quota: Quota.nullish(),
};

export const UserInput = z.object({ ...fields, is_admin: z.boolean().optional() }).meta({ id: 'UserInput' });
export type UserInput = z.infer<typeof UserInput>;

/** A form has texts only; an empty one is nothing. */
const formText = z
  .string()
  .optional()
  .transform((text) => (text === '' ? undefined : text));

export const UserForm = z
  .object({
    display_name: formText,
    external_user_id: formText,
    email: formText,
    is_admin: formText.pipe(z.stringbool().optional()),
    file_quota: formText
      .transform((text) => (text === undefined ? text : Number(text)))
      .pipe(Quota.optional()),
  })
  .meta({ id: 'UserForm' });

const user = {
  id: z.int(),
  display_name: z.string().nullable(),
  external_user_id: z.string().nullable(),
  email: z.string().nullable(),
  is_admin: z.boolean(),
  file_quota: z.int().nullable(),
  file_count: z.int(),
};

export const User = z.object({ ...user, created_at: z.iso.datetime() }).meta({ id: 'User' });

export const UserList = z.object({ users: z.array(User) });

const MembershipEntry = z.object({
  partition: z.string(),
  role: z.enum(ROLES),
  added_at: z.iso.datetime(),
});

export const UserDetail = User.extend({ memberships: z.array(MembershipEntry) }).meta({ id: 'UserDetail' });

const Token = z.string().meta({ description: 'Shown this once; only its digest is kept' });

export const NewUser = z.object({ ...user, token: Token }).meta({ id: 'NewUser' });

export const UserWithToken = User.extend({ token: Token }).meta({ id: 'UserWithToken' });

export const Me = z
  .object({
    ...user,
    memberships: z.array(MembershipEntry),
    pending_files: z.int(),
    total_files: z.int().meta({ description: 'file_count and pending_files together' }),
    file_quota: z.int().meta({ description: 'Files; -1: no limit' }),
    chainlit_enabled: z.boolean(),
  })
  .meta({ id: 'Me' });

export const MemberList = z.object({
  members: z.array(
    z.object({
      user_id: z.int(),
      display_name: z.string().nullable(),
      email: z.string().nullable(),
      role: z.enum(ROLES),
      added_at: z.iso.datetime(),
    }),
  ),
});

export const CandidateList = z.object({
  candidates: z.array(
    z.object({ user_id: z.int(), display_name: z.string().nullable(), email: z.string().nullable() }),
  ),
  limit: z.int(),
  has_more: z.boolean(),
  next_cursor: z.int().nullable().meta({ description: '`cursor` of the next page; null: there is none' }),
});

export const NewMemberForm = z.object({
  user_id: queryNumber(z.number().refine(Number.isInteger, 'must be an integer')).meta({ type: 'integer' }),
  role: z.enum(ROLES).default('viewer'),
});

export const RoleForm = z.object({ role: z.enum(ROLES) });
