import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectAgent } from '../api/support/agent.js';
import type { Agent } from '../api/support/agent.js';
import { ADMIN_TOKEN, startGateway } from '../api/support/start-gateway.js';
import type { Gateway } from '../api/support/start-gateway.js';
import { indexText } from '../api/support/uploads.js';
import { watchHealth } from './support/health-watch.js';

let gateway: Gateway;
let agent: Agent;
beforeAll(async () => {
  gateway = await startGateway();
  await indexText(gateway, { partition: 'notes', fileId: 'mill' }, ['The mill stands on the river.']);
  agent = await connectAgent(gateway, ADMIN_TOKEN);
});
afterAll(async () => {
  await agent?.close();
  await gateway?.close();
});

const LONG = 'some words '.repeat(400_000);

async function post(method: string, params: object): Promise<{ status: number; text: string }> {
  const response = await gateway.call('POST', '/mcp', {
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { status: response.status, text: await response.text() };
}

/** Answered shortly, in both senses, and written down as shortly. */
async function expectShort(method: string, params: object, of: RegExp): Promise<void> {
  const before = gateway.logLines.length;
  const { status, text } = await watchHealth(gateway, () => post(method, params));
  expect([status, text.length < 5_000, text.slice(0, 500)]).toEqual([200, true, expect.stringMatching(of)]);
  for (const line of gateway.logLines.slice(before)) expect(line.length).toBeLessThan(5_000);
}

/** What fits where nothing is said. */
const ARGUMENTS: Record<string, unknown> = {
  query: 'mill',
  partition: 'notes',
  file_id: 'mill',
  chunk_id: 'x',
  task_id: 'x',
  metadata: {},
  source_partition: 'notes',
  source_file_id: 'mill',
  url: 'https://example.org/',
};

describe('an agent that sends texts of 4 MB', () => {
  test('has every text argument of every tool refused, without keeping others waiting', async () => {
    let tried = 0;
    for (const { name, inputSchema } of agent.tools) {
      const { properties = {}, required = [] } = inputSchema;
      for (const [argument, said] of Object.entries(properties)) {
        // Also where null or a list may stand for it.
        if (!JSON.stringify(said).includes('"string"')) continue;
        const given = JSON.stringify(said).includes('"array"')
          ? [LONG]
          : argument === 'metadata'
            ? { long: LONG }
            : LONG;
        const others = Object.fromEntries(required.map((key) => [key, ARGUMENTS[key]]));
        await expectShort(
          'tools/call',
          { name, arguments: { ...others, [argument]: given } },
          /"isError":true/,
        );
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(25);
  }, 120_000);

  test.each([
    ['tools/call', { name: LONG }],
    ['resources/read', { uri: LONG }],
    ['resources/read', { uri: `tamis://partition/${LONG}/file/x` }],
    ['resources/read', { uri: `tamis://chunk/${'x'.repeat(4_000_000)}` }],
    ['resources/list', { cursor: LONG }],
    ['prompts/get', { name: LONG }],
    ['prompts/get', { name: 'answer_from_partition', arguments: { partition: LONG, question: 'x' } }],
    ['prompts/get', { name: 'answer_from_partition', arguments: { partition: 'notes', question: LONG } }],
    [LONG, {}],
  ])('is refused shortly elsewhere as well', async (method, params) => {
    await expectShort(method, params, /"error":\{"code":-32/);
  });

  test('is told of no progress under a token as long', async () => {
    const { status, text } = await post('tools/call', {
      name: 'list_partitions',
      arguments: {},
      _meta: { progressToken: LONG },
    });
    expect([status, text.startsWith('{')]).toEqual([200, true]);
  });
});
