import type { PartitionStore } from '../../activities/ports/partitions.js';
import type { Role } from '../../schemas/documents/users.js';
import { authoriseCaller } from '../http/middleware/authorise-partition.js';
import { parsePart } from '../http/request-issues.js';
import type { CallerContext, Route } from '../http/route.js';
import { boundedList } from './bounded-rows.js';

/** Asks a route of the table for its answer's body; `name` is its method and path as the table has them. */
export type AskRoute = (
  name: string,
  input?: { params?: Readonly<Record<string, string>>; query?: Readonly<Record<string, unknown>> },
) => Promise<unknown>;

/**
 * Routes as a request would be answered by them, without the request: the role that they ask for, their schemas and
 * their handler. So a tool may do what its caller may do over HTTP, and answers the same, but for the end of a list
 * that is too long for one result.
 */
export function createAskRoute(
  routes: readonly Route[],
  partitions: Pick<PartitionStore, 'get' | 'roleOf'>,
): (ctx: CallerContext) => AskRoute {
  const table = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const asked = (name: string): Route => {
    const route = table.get(name);
    if (route === undefined) throw new Error(`there is no route ${name}`);
    return route;
  };
  return (ctx) =>
    async (name, { params = {}, query = {} } = {}) => {
      const { auth, request, handle } = asked(name);
      const caller =
        auth === 'user'
          ? ctx
          : await authoriseCaller(partitions, ctx, params['partition'] ?? '', neededRole(name, auth));
      const answer = await handle(
        { ...ctx, ...caller },
        {
          params: request?.params && parsePart(request.params, params, 'path'),
          query: request?.query && parsePart(request.query, query, 'query'),
        },
      );
      return answer.list === undefined ? answer.body : boundedList(answer.list);
    };
}

/** Routes for others than users and members are none for tools. */
function neededRole(name: string, auth: Route['auth']): Role {
  if (typeof auth === 'object' && 'partition' in auth && auth.admin !== true) return auth.partition;
  throw new Error(`${name} is not for every user`);
}
