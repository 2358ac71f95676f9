import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { temporalConnection } from '../../../activities/temporal/temporal-access.js';
import { temporal } from '../../../deploy/local/services/temporal.js';
import { loopbackChannel } from '../../../schemas/temporal-channel.js';
import { listenOnLoopback } from '../../support/loopback-server.js';
import { temporaryFolder } from '../deploy/temporary-folder.js';
import { testBench } from '../deploy/test-bench.js';

const servers: Server[] = [];
afterEach(() => {
  delete process.env['http_proxy'];
  for (const server of servers.splice(0)) server.close();
});

/** Counts who comes, and hangs up on them. */
async function counting() {
  const count = { connections: 0, first: Promise.resolve<unknown>(null) };
  const server = createServer((socket) => {
    count.connections += 1;
    socket.destroy();
  });
  count.first = once(server, 'connection');
  servers.push(server);
  const { port } = await listenOnLoopback(server);
  return { count, address: `127.0.0.1:${port}` };
}

const ASKED = {
  'by gateway and worker': async (address: string) => {
    const options = temporalConnection({ address, namespace: 'default', tls: null, apiKey: null });
    const connection = await Connection.connect({ ...options, connectTimeout: '1s' });
    await connection.close();
  },
  'by the launcher': (address: string) => temporal.ready(testBench(temporaryFolder()), address),
};

test.each(Object.entries(ASKED))(
  'a Temporal on this machine is asked past a proxy %s',
  async (_who, ask) => {
    const [proxy, server] = [await counting(), await counting()];
    process.env['http_proxy'] = `http://${proxy.address}`;
    const asked = ask(server.address).catch(() => 'not answered');
    await Promise.race([server.count.first, proxy.count.first]);
    expect(await asked).toBe('not answered');
    expect([server.count.connections > 0, proxy.count.connections]).toEqual([true, 0]);
  },
  30_000,
);

test.each([
  ['localhost:7233', true],
  ['127.0.0.1:7233', true],
  ['127.1.2.3', true],
  ['[::1]:7233', true],
  ['temporal:7233', false],
  ['127.0.0.1.example.org:7233', false],
  ['10.0.0.1:7233', false],
])('%s is on loopback: %s', (address, isLoopback) => {
  expect('channelArgs' in loopbackChannel(address)).toBe(isLoopback);
});
