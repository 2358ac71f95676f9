import { z } from 'zod';
import type { ErrorCode } from '../../../schemas/error-table.js';
import { AppError } from '../../../schemas/app-error.js';
import { queryNumber } from '../../../schemas/documents/documents-api.js';
import type { Membership } from '../../../schemas/documents/users.js';
import { CandidateList, MemberList, NewMemberForm, RoleForm } from '../../../schemas/documents/users-api.js';
import { invalidRequest } from '../../../schemas/request-issues.js';
import { empty, json, route } from '../../http/route.js';
import type { CallerContext, Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { PartitionParams, UserNumber } from '../../http/identifiers.js';

const MemberParams = PartitionParams.extend({ user_id: UserNumber });

const MAX_CANDIDATES = 100;
/** A shorter search would list nearly every user. */
const MIN_SEARCH = 3;

const CandidateQuery = z.object({
  search: z.string().max(255),
  /** The number of the last user of the page before. */
  cursor: queryNumber(z.int().min(0)).default(0),
  limit: queryNumber(z.int().min(1).max(MAX_CANDIDATES)).default(20),
});

const MESSAGES: Partial<Record<ErrorCode, (userId: number, partition: string) => string>> = {
  MEMBERSHIP_EXISTS: (userId, partition) => `User ${userId} is already a member of partition '${partition}'`,
  MEMBERSHIP_NOT_FOUND: (userId, partition) => `User ${userId} is not a member of partition '${partition}'`,
};

/** Who may do what in a partition (wire contract, section 1.5). */
export function memberRoutes({ adapters }: GatewayDeps): Route[] {
  const { partitions, users } = adapters;

  /**
   * Numbers are few and in a row: a caller who may ask by number may list all users. Any user becomes an owner by
   * making a partition, so that only one who shares a partition already is allowed to, this one or another.
   */
  const mayAskByNumber = async (
    { principal }: CallerContext,
    partition: string,
    members: readonly Membership[],
  ): Promise<boolean> => {
    if (principal.isAdmin || members.length > 1) return true;
    for (const { partition: other, role } of await partitions.memberships(principal.userId))
      if (role === 'owner' && other !== partition && (await partitions.members(other)).length > 1)
        return true;
    return false;
  };

  /** What a store says of a membership, in the words of a route's guard. */
  const plainly = async (change: Promise<void>, userId: number, partition: string): Promise<void> => {
    await change.catch((error: unknown) => {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      const text = MESSAGES[error.code]?.(userId, partition) ?? error.message;
      throw new AppError(error.code, text, { plain: true, cause: error });
    });
  };

  return [
    route({
      method: 'get',
      path: '/partition/{partition}/users',
      summary: 'Members of a partition',
      tag: 'Members',
      auth: { partition: 'owner' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'Members by number', schema: MemberList } },
      errors: ['PARTITION_NOT_FOUND'],
      async handle(_ctx, { params }) {
        const members = await partitions.members(params.partition);
        const people = await users.getMany(members.map(({ user_id }) => user_id));
        return json(200, {
          members: members.flatMap(({ user_id, role, added_at }) => {
            const user = people.get(user_id);
            if (user === undefined) return [];
            const { display_name, email } = user;
            return [{ user_id, display_name, email, role, added_at: added_at.toISOString() }];
          }),
        });
      },
    }),
    route({
      method: 'get',
      path: '/partition/{partition}/users/candidates',
      summary:
        'Users who could become members, by the beginning of a name; by number for owners of a partition with others',
      tag: 'Members',
      auth: { partition: 'owner' },
      request: { params: PartitionParams, query: CandidateQuery },
      responses: { 200: { description: 'Users by number', schema: CandidateList } },
      errors: ['PARTITION_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(ctx, { params, query }) {
        const text = query.search.trim();
        const members = await partitions.members(params.partition);
        const isNumber = /^\d+$/.test(text);
        const refused = isNumber
          ? !(await mayAskByNumber(ctx, params.partition, members))
          : [...text].length < MIN_SEARCH;
        if (refused)
          throw invalidRequest([
            {
              type: isNumber ? 'number_not_allowed' : 'too_small',
              loc: ['query', 'search'],
              msg: isNumber
                ? `The number of a user is for owners of a partition with other members; at least ${MIN_SEARCH} letters of a name`
                : `At least ${MIN_SEARCH} characters, or the number of a user`,
              input: query.search,
            },
          ]);
        const without = members.map(({ user_id }) => user_id);
        const { cursor: after, limit } = query;
        const found = await users.search({ text, after, limit: limit + 1, without });
        const page = found.slice(0, limit);
        const hasMore = found.length > limit;
        return json(200, {
          candidates: page.map(({ user_id, display_name, email }) => ({ user_id, display_name, email })),
          limit,
          has_more: hasMore,
          next_cursor: hasMore ? (page.at(-1)?.user_id ?? null) : null,
        });
      },
    }),
    route({
      method: 'post',
      path: '/partition/{partition}/users',
      summary: 'Add a member',
      tag: 'Members',
      auth: { partition: 'owner' },
      request: { params: PartitionParams, form: NewMemberForm },
      responses: { 201: { description: 'Added' } },
      errors: ['PARTITION_NOT_FOUND', 'USER_NOT_FOUND', 'MEMBERSHIP_EXISTS', 'VALIDATION_ERROR'],
      async handle(_ctx, { params: { partition }, form: { user_id: userId, role } }) {
        if ((await users.get(userId)) === null)
          throw new AppError('USER_NOT_FOUND', `User ${userId} not found`, { plain: true });
        await plainly(partitions.addMember(partition, userId, role), userId, partition);
        // Deleted in this moment: that deletion may have looked at the partitions already.
        if ((await users.get(userId)) === null) await partitions.removeUser(userId);
        return empty(201);
      },
    }),
    route({
      method: 'patch',
      path: '/partition/{partition}/users/{user_id}',
      summary: "Change a member's role; the last owner stays one",
      tag: 'Members',
      auth: { partition: 'owner' },
      request: { params: MemberParams, form: RoleForm },
      responses: { 200: { description: 'Changed' } },
      errors: ['PARTITION_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_OWNER', 'VALIDATION_ERROR'],
      async handle(_ctx, { params: { partition, user_id: userId }, form: { role } }) {
        await plainly(partitions.setRole(partition, userId, role), userId, partition);
        return empty(200);
      },
    }),
    route({
      method: 'delete',
      path: '/partition/{partition}/users/{user_id}',
      summary: 'Remove a member; the last owner stays',
      tag: 'Members',
      auth: { partition: 'owner' },
      request: { params: MemberParams },
      responses: { 204: { description: 'Removed' } },
      errors: ['PARTITION_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_OWNER', 'VALIDATION_ERROR'],
      async handle(_ctx, { params: { partition, user_id: userId } }) {
        await plainly(partitions.removeMember(partition, userId), userId, partition);
        return empty(204);
      },
    }),
  ];
}
