import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import { DEFAULT_ADMIN, effectiveQuota } from '../../../schemas/documents/users.js';
import type { UserRecord } from '../../../schemas/documents/users.js';
import {
  Me,
  NewUser,
  User,
  UserDetail,
  UserForm,
  UserInput,
  UserList,
  UserWithToken,
} from '../../../schemas/documents/users-api.js';
import { createUser, newToken } from '../../../activities/documents/commands/create-user.js';
import { deleteUser } from '../../../activities/documents/commands/delete-user.js';
import { tokenDigest } from '../../http/middleware/authentication.js';
import { UserNumber } from '../../http/identifiers.js';
import { empty, json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { presentMe, presentMembership, presentNewUser, presentUser } from './present-user.js';
import { readUserFields } from './user-fields.js';
import { badRequest } from '../../../schemas/request-issues.js';

const UserParams = z.object({ id: UserNumber });

function noSuchUser(userId: number): AppError {
  return new AppError('USER_NOT_FOUND', `User ${userId} not found`, { plain: true });
}

function found(user: UserRecord | null, userId: number): UserRecord {
  if (user === null) throw noSuchUser(userId);
  return user;
}

/** Users and their tokens (wire contract, section 1.7). */
export function userRoutes({ adapters, config, workflows }: GatewayDeps): Route[] {
  const { users, partitions, files } = adapters;
  const { defaultFileQuota } = config.documents;

  const countsOf = async (userId: number) =>
    (await files.countByUploader([userId])).get(userId) ?? { files: 0, pending: 0 };
  const present = async (user: UserRecord) => presentUser(user, await countsOf(user.user_id));

  return [
    route({
      method: 'get',
      path: '/users/',
      summary: 'All users',
      tag: 'Users',
      auth: 'admin',
      responses: { 200: { description: 'Users by number', schema: UserList } },
      async handle() {
        const all = await users.list();
        const counts = await files.countByUploader(all.map(({ user_id }) => user_id));
        return json(200, { users: all.map((user) => presentUser(user, counts.get(user.user_id))) });
      },
    }),
    route({
      method: 'post',
      path: '/users/',
      summary: 'Create a user; its token is shown this once',
      tag: 'Users',
      auth: 'admin',
      request: { body: UserInput, bodyAsForm: UserForm },
      responses: { 201: { description: 'The user and its token', schema: NewUser } },
      errors: ['BAD_REQUEST', 'USER_EXISTS', 'VALIDATION_ERROR'],
      async handle(_ctx, { body }) {
        const token = newToken();
        const user = await createUser(adapters, readUserFields(body), { token, defaultFileQuota });
        return json(201, presentNewUser(user, token));
      },
    }),
    route({
      method: 'get',
      path: '/users/info',
      summary: 'Who the caller is, and what it may upload',
      tag: 'Users',
      auth: 'user',
      responses: { 200: { description: 'The caller', schema: Me } },
      async handle({ principal: { userId } }) {
        const [user, counts, memberships] = await Promise.all([
          users.get(userId),
          countsOf(userId),
          partitions.memberships(userId),
        ]);
        const me = found(user, userId);
        return json(200, presentMe(me, counts, memberships, effectiveQuota(me, defaultFileQuota)));
      },
    }),
    route({
      method: 'get',
      path: '/users/{id}',
      summary: 'A user and its memberships',
      tag: 'Users',
      auth: 'admin',
      request: { params: UserParams },
      responses: { 200: { description: 'The user', schema: UserDetail } },
      errors: ['USER_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params }) {
        const user = found(await users.get(params.id), params.id);
        const memberships = await partitions.memberships(params.id);
        return json(200, { ...(await present(user)), memberships: memberships.map(presentMembership) });
      },
    }),
    route({
      method: 'patch',
      path: '/users/{id}',
      summary: 'Change a user',
      tag: 'Users',
      auth: 'admin',
      request: { params: UserParams, body: UserInput },
      responses: { 200: { description: 'The user', schema: User } },
      errors: ['BAD_REQUEST', 'USER_NOT_FOUND', 'USER_EXISTS', 'VALIDATION_ERROR'],
      async handle(_ctx, { params, body }) {
        if (params.id === DEFAULT_ADMIN && body.is_admin === false)
          throw badRequest('Cannot revoke admin privileges from the default admin user.');
        return json(
          200,
          await present(found(await users.update(params.id, readUserFields(body)), params.id)),
        );
      },
    }),
    route({
      method: 'delete',
      path: '/users/{id}',
      summary: 'Delete a user, and the partitions that no other user owns',
      tag: 'Users',
      auth: 'admin',
      request: { params: UserParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['BAD_REQUEST', 'USER_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ log }, { params }) {
        if (params.id === DEFAULT_ADMIN) throw badRequest('Cannot delete the default admin user.');
        if (!(await deleteUser({ ...adapters, workflows, log }, params.id))) throw noSuchUser(params.id);
        return empty(204);
      },
    }),
    route({
      method: 'post',
      path: '/users/{id}/regenerate_token',
      summary: 'A new token; the old one is dead at once',
      tag: 'Users',
      // The user itself, or an administrator.
      auth: 'user',
      request: { params: UserParams },
      responses: { 200: { description: 'The user and its new token', schema: UserWithToken } },
      errors: ['AUTH_ERROR', 'USER_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ principal }, { params }) {
        if (!principal.isAdmin && principal.userId !== params.id)
          throw new AppError('AUTH_ERROR', 'Admin privileges required', { plain: true });
        const token = newToken();
        const user = found(await users.setToken(params.id, tokenDigest(token)), params.id);
        return json(200, { ...(await present(user)), token });
      },
    }),
  ];
}
