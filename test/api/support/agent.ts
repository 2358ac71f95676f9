import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import type { LooseBody } from './loose-body.js';
import type { Gateway } from './start-gateway.js';

/** What a tool answered, or the status and body of its refusal. */
export interface ToolAnswer {
  error: boolean;
  /** The text, which holds the whole result as JSON. */
  text: string;
  body: LooseBody;
  structured: LooseBody;
}

/** The official client, signed in. It compares each result with the schema that its tool declares. */
export async function connectAgent(gateway: Pick<Gateway, 'url'>, token: string) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  return {
    client,
    tools,
    async call(
      name: string,
      args: Record<string, unknown> = {},
      onprogress?: (progress: Progress) => void,
    ): Promise<ToolAnswer> {
      const options = onprogress === undefined ? {} : { onprogress };
      const result = (await client.callTool({ name, arguments: args }, undefined, options)) as LooseBody;
      const [{ text }] = result.content;
      return {
        error: result.isError === true,
        text,
        body: JSON.parse(text),
        structured: result.structuredContent,
      };
    },
    close: () => client.close(),
  };
}

export type Agent = Awaited<ReturnType<typeof connectAgent>>;
