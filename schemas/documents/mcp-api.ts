import { z } from 'zod';

/** Messages of the surface for agents, as far as they have one shape; their content is the protocol's. */

const RpcId = z.union([z.string(), z.int()]);

export const JsonRpcMessage = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: RpcId.optional().meta({ description: 'None: a notification' }),
    method: z
      .string()
      .optional()
      .meta({ examples: ['tools/call'] }),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'JsonRpcMessage' });

const RpcFault = z.looseObject({ code: z.int(), message: z.string() });

export const JsonRpcAnswer = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: RpcId.nullable(),
    result: z.looseObject({}).optional(),
    error: RpcFault.optional(),
  })
  .meta({ id: 'JsonRpcAnswer' });

export const JsonRpcError = z
  .looseObject({ jsonrpc: z.literal('2.0'), id: z.null(), error: RpcFault })
  .meta({ id: 'JsonRpcError' });
