import { z } from 'zod';
import type { GatewayDeps } from '../gateway-deps.js';
import { losslessBody } from '../http/json.js';
import { parsePart } from '../http/request-issues.js';
import { asDocumentError, noted } from './rpc-error.js';
import type { Tool, ToolCall } from './tool.js';
import { changeTools } from './tools/change-tools.js';
import { fileTools } from './tools/file-tools.js';
import { indexUrlTool } from './tools/index-url.js';
import { searchTools } from './tools/search-tools.js';
import { taskTools } from './tools/task-tools.js';
import { withoutBigints } from './without-bigints.js';

/**
 * As a client reads it. Also of an answer what goes in: other keys may be added to answers later. Ids of schemas are
 * for the OpenAPI document.
 */
function jsonSchema(schema: z.ZodType): { type: 'object'; [key: string]: unknown } {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema: written }) {
      delete written.id;
    },
  });
  return { ...rest, type: 'object' };
}

/** What `tools/list` answers of a tool. */
function present({ name, description, annotations, input, output }: Tool) {
  return {
    name,
    title: annotations.title,
    description,
    annotations,
    inputSchema: jsonSchema(input),
    outputSchema: jsonSchema(output),
  };
}

/** The tools of the wire contract, section 1.12. */
export function createToolTable(deps: GatewayDeps) {
  const tools = [
    ...searchTools(deps),
    ...fileTools(deps),
    ...taskTools(),
    ...changeTools(deps),
    indexUrlTool(deps),
  ];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const listed = tools.map(present);
  return {
    list: () => listed,
    has: (name: string): boolean => byName.has(name),
    /**
     * What a refusal or a fault says is a result as well, so that the model that called reads it: status and body are
     * those of the routes.
     */
    async call(name: string, call: ToolCall, given: unknown) {
      const { ctx } = call;
      ctx.koa.state['tool'] = name;
      try {
        const tool = byName.get(name);
        if (tool === undefined) throw new Error(`there is no tool ${name}`);
        const result = await tool.run(call, parsePart(tool.input, given ?? {}, 'body'));
        return {
          content: [{ type: 'text' as const, text: losslessBody(result) }],
          structuredContent: withoutBigints(result) as Record<string, unknown>,
        };
      } catch (thrown) {
        const text = losslessBody(asDocumentError(ctx, noted(ctx, thrown)));
        return { content: [{ type: 'text' as const, text }], isError: true };
      }
    },
  };
}
