import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectOpenSearch } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

/** As OpenSearch 2.19 answers a request of 300 batches. */
const USAGES = Array.from({ length: 300 }, (_, task) =>
  JSON.stringify({
    action: 'indices:data/read/search[phase/query+fetch/scroll]',
    taskId: 4_358 + task,
    parentTaskId: 4_358,
    nodeId: 'CUGO0I0VQWu1B9y9npSkHw',
    taskResourceUsage: { cpu_time_in_nanos: 732_545, memory_in_bytes: 27_344 },
  }),
);

let server: Server;
let url: string;
let asked = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    request.resume().on('end', () => {
      response.setHeader('TASK_RESOURCE_USAGE', USAGES);
      response.setHeader('content-type', 'application/json');
      response.end('{"deleted":300000}');
    });
  });
  ({ url } = await listenOnLoopback(server));
});
afterAll(() => endServer(server));

test.each([
  ['unsigned', null],
  ['signed for AWS', { region: 'eu-west-3', service: 'es' as const }],
])('an answer with 64 kB of headers is read (request %s)', async (_how, aws) => {
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret-of-the-test' };
  if (aws !== null) Object.assign(process.env, credentials);
  const { client, close } = connectOpenSearch({ url, aws });
  asked = 0;
  try {
    expect(await client.request('POST', '/chunks/_delete_by_query')).toEqual({ deleted: 300_000 });
    expect(asked).toBe(1);
  } finally {
    await close();
    for (const name of Object.keys(credentials)) delete process.env[name];
  }
});
