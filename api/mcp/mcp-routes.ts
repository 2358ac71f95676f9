import { JsonRpcAnswer, JsonRpcError, JsonRpcMessage } from '../../schemas/documents/mcp-api.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { route } from '../http/route.js';
import type { Answer, CallerContext, Route } from '../http/route.js';

type Answering = (ctx: CallerContext) => Promise<Answer>;

/**
 * The surface for agents (wire contract, section 1.12). The SDK and what stands on it are loaded with the first
 * request: most gateways are never asked.
 * @param routes those that the tools are made of
 */
export function mcpRoutes(deps: GatewayDeps, routes: readonly Route[]): Route[] {
  let answering: Promise<Answering> | undefined;
  const load = (): Promise<Answering> =>
    (answering ??= import('./answer-message.js').then(({ createMessageAnswering }) =>
      createMessageAnswering(deps, routes),
    ));
  return [
    route({
      method: 'post',
      path: '/mcp',
      summary:
        'Tools, resources and prompts for agents: the Model Context Protocol, Streamable HTTP, stateless',
      tag: 'Agents',
      auth: 'user',
      request: { ownBody: JsonRpcMessage },
      responses: {
        200: { description: 'The answer to a request', schema: JsonRpcAnswer, orEvents: true },
        202: { description: 'A notification was taken' },
        400: { description: 'No message that can be read, or of another protocol', schema: JsonRpcError },
        406: { description: 'JSON and events must both be acceptable', schema: JsonRpcError },
        415: { description: 'The body must be JSON', schema: JsonRpcError },
      },
      handle: async (ctx) => (await load())(ctx),
    }),
  ];
}
